"""Which server certificates a client takes. There is no way to take any."""

import hashlib
import re
import ssl
from pathlib import Path
from typing import TypeAlias

from attrs import field, frozen

from ganeti_tx.errors import X509CertError
from ganeti_tx.rapi_client.errors import CertificateError

#: Bytes of a file of certificates.
_LARGEST_FILE = 1024 * 1024
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\s.*?-----END CERTIFICATE-----\n?", re.DOTALL)


def _with_certificate(instance: object, attribute: object, pem: str) -> None:
    if not _CERTIFICATE.search(pem):  # OpenSSL would fall back on the system's authorities
        raise X509CertError("authority", "has no certificate in PEM form")


@frozen
class Authorities:
    """The server's certificate is one of these, or signed by one of these, and is for the server's name.

    @raise X509CertError: there is none.
    """

    #: PEM; only certificates.
    pem: str = field(validator=_with_certificate)


@frozen
class SystemAuthorities:
    """The server's certificate is signed by an authority that this machine trusts, and is for the server's name."""


@frozen
class Pin:
    """The server's certificate is this very one, whatever name it is for."""

    #: SHA-256 of the certificate (DER), as lower-case hexadecimal digits.
    sha256: str


SYSTEM = SystemAuthorities()
Trust: TypeAlias = Authorities | SystemAuthorities | Pin


def authority_file(file: str | Path) -> Authorities:
    """The certificates in a PEM file, such as a copy of the cluster's rapi.pem (a key in it is left out).

    @raise X509CertError: the file cannot be read or has no certificate.
    """
    try:
        with open(file, encoding="ascii", errors="replace") as opened:
            found = _CERTIFICATE.findall(opened.read(_LARGEST_FILE))
    except OSError as error:
        raise X509CertError(str(file), f"cannot be read: {error.strerror}") from None
    if not found:
        raise X509CertError(str(file), "has no certificate in PEM form")
    return Authorities("".join(found))


def pin(fingerprint: str) -> Pin:
    """A SHA-256 fingerprint as `openssl x509 -fingerprint -sha256` writes it, colons or not.

    @raise X509CertError: it is not one.
    """
    digits = fingerprint.replace(":", "").lower()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise X509CertError(
            "fingerprint", f"{fingerprint[:100]!r} is not a SHA-256 fingerprint of 64 hexadecimal digits"
        )
    return Pin(digits)


def ssl_context(trust: Trust) -> ssl.SSLContext:
    """For the standard library's TLS. After the handshake `check_pin` has to be asked too.

    @raise X509CertError: the authorities are not certificates.
    """
    if isinstance(trust, Pin):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # check_pin looks at the certificate instead
    elif isinstance(trust, Authorities):
        try:
            context = ssl.create_default_context(cadata=trust.pem)
        except ssl.SSLError as error:
            raise X509CertError("authority", f"not a PEM certificate: {error.reason}") from None
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the server's own certificate may be the authority
    else:
        context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def check_pin(trust: Trust, certificate: bytes | None) -> None:
    """Look at a server's certificate (DER). @raise CertificateError: it is not the one that is pinned."""
    if isinstance(trust, Pin):
        shown = hashlib.sha256(certificate or b"").hexdigest()
        if shown != trust.sha256:
            raise CertificateError(f"The server's certificate has the fingerprint {shown}, expected {trust.sha256}")
