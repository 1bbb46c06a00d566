"""Mutual TLS between nodes: both ends show a certificate of the cluster's authority, and the caller checks the name."""

from collections.abc import Callable
from typing import Any

from cryptography.x509 import DNSName, ExtensionNotFound, SubjectAlternativeName
from OpenSSL import SSL, crypto
from twisted.internet.ssl import Certificate, CertificateOptions, PrivateCertificate, TLSVersion, optionsForClientTLS
from twisted.internet.ssl import trustRootFromCertificates as trust
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.runtime.certificates import Identity


def load_authority(certificate: bytes) -> Certificate:
    """@raise X509CertError: not a PEM certificate."""
    try:
        return Certificate.loadPEM(certificate)
    except crypto.Error as error:
        raise X509CertError("certificate authority", f"not a PEM certificate: {error}")


def load_identity(identity: Identity) -> PrivateCertificate:
    """@raise X509CertError: not a key and a certificate that belong together."""
    try:
        own: PrivateCertificate = PrivateCertificate.loadPEM(identity.bundle)
        return own
    except (crypto.Error, SSL.Error) as error:
        raise X509CertError("identity", f"not a key and its certificate: {error}")


def server_options(identity: Identity, authority: bytes) -> CertificateOptions:
    """For a listener that talks to nobody without a certificate of the authority."""
    own = load_identity(identity)
    return CertificateOptions(
        privateKey=own.privateKey.original,
        certificate=own.original,
        trustRoot=trust([load_authority(authority)]),
        raiseMinimumTo=TLSVersion.TLSv1_2,
    )


@implementer(IPolicyForHTTPS)
class NodeTrust:
    """For an HTTP agent: shows our certificate, takes only the authority's, checks the address in it."""

    def __init__(self, identity: Identity, authority: bytes) -> None:
        self._identity = load_identity(identity)
        self._trust = trust([load_authority(authority)])
        self._options: dict[tuple[bytes, int], Any] = {}

    def creatorForNetloc(self, hostname: bytes, port: int) -> Any:
        """Options for one server; kept, so that TLS sessions can be resumed."""
        key = (hostname, port)
        if key not in self._options:
            self._options[key] = optionsForClientTLS(
                hostname.decode("ascii"),
                trustRoot=self._trust,
                clientCertificate=self._identity,
                extraCertificateOptions={"raiseMinimumTo": TLSVersion.TLSv1_2},
            )
        return self._options[key]


def peer_digest(transport: Any) -> str | None:
    """The SHA-256 digest of the certificate that the other end showed; None without one."""
    get = getattr(transport, "getPeerCertificate", None)
    certificate = get() if get is not None else None
    if certificate is None:
        return None
    return str(certificate.digest("sha256").decode("ascii"))


def peer_name(transport: Any) -> str | None:
    """The name in the certificate that the other end showed; None without one."""
    get = getattr(transport, "getPeerCertificate", None)
    certificate = get() if get is not None else None
    if certificate is None:
        return None
    try:
        extension = certificate.to_cryptography().extensions.get_extension_for_class(SubjectAlternativeName)
    except ExtensionNotFound:
        return None
    names: list[str] = extension.value.get_values_for_type(DNSName)
    return names[0] if names else None


#: Whether the holder of the certificate with this digest may make node calls.
Admits = Callable[[str], bool]
