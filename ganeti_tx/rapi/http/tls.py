"""TLS of the Remote API: the newest rapi.pem, TLS 1.2 and up, sessions that can be resumed."""

from pathlib import Path
from typing import Any

from attrs import define, field
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from OpenSSL import SSL, crypto
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.internet.ssl import CertificateOptions, TLSVersion
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason

log = Logger()

MAX_FILE = 256 * 1024
HTTP11 = b"http/1.1"


def load_options(files: IFiles, certificate_path: Path, key_path: Path) -> CertificateOptions:
    """@raise X509CertError: a file cannot be read, or does not hold what it should."""
    try:
        chain = x509.load_pem_x509_certificates(files.read(certificate_path, MAX_FILE))
    except (OSError, ValueError) as error:
        raise X509CertError(str(certificate_path), f"no certificate can be read from it: {text(error)}")
    try:
        key = load_pem_private_key(files.read(key_path, MAX_FILE), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise X509CertError(str(key_path), f"no private key can be read from it: {text(error)}")
    if key.public_key() != chain[0].public_key():
        raise X509CertError(str(certificate_path), f"the key in {key_path} does not belong to it")
    certificates = [crypto.X509.from_cryptography(each) for each in chain]
    options = CertificateOptions(
        privateKey=crypto.PKey.from_cryptography_key(key),  # type: ignore[arg-type]  # TLS itself says which it takes
        certificate=certificates[0],
        extraCertChain=certificates[1:],
        raiseMinimumTo=TLSVersion.TLSv1_2,
        enableSessions=True,
        enableSessionTickets=True,
    )
    options.getContext().set_alpn_select_callback(application_protocol)
    return options


def application_protocol(connection: SSL.Connection, offered: list[bytes]) -> Any:
    """HTTP/1.1, or nothing agreed on: what a client that offers something else alone then speaks is seen by its request."""
    return HTTP11 if HTTP11 in offered else SSL.NO_OVERLAPPING_PROTOCOLS


def text(error: Exception) -> str:
    """The reason in short."""
    return reason(error) if isinstance(error, OSError) else str(error)


@implementer(IOpenSSLServerConnectionCreator)
@define(kw_only=True)
class RapiTls:
    """Makes the server's end of each connection with the certificate that is newest by then."""

    files: IFiles
    certificate: Path
    key: Path
    _options: CertificateOptions = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._options = load_options(self.files, self.certificate, self.key)

    def serverConnectionForTLS(self, protocol: Any) -> SSL.Connection:
        """As IOpenSSLServerConnectionCreator says."""
        return SSL.Connection(self._options.getContext(), None)

    def file_changed(self, name: str) -> None:
        """Take a new certificate, or keep the old one when the new one is no good."""
        if name not in {self.certificate.name, self.key.name}:
            return
        try:
            self._options = load_options(self.files, self.certificate, self.key)
        except X509CertError as error:
            log.error("the certificate stays as it was: {reason}", reason=str(error))
        else:
            log.info("{path} is in use now", path=str(self.certificate))
