"""TLS of the node daemon: each connection is made with the keys that are newest by then, as they are replaced while it runs."""

from typing import Any

from attrs import define, field
from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.internet.ssl import CertificateOptions
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tls import server_options

log = Logger()

MAX_KEY_FILE = 64 * 1024


@implementer(IOpenSSLServerConnectionCreator)
@define
class NodeTls:
    """Shows server.pem, and takes callers whose certificate is of an authority in ca.pem.

    @raise OSError, X509CertError: at first they cannot be read; later those of before stay.
    """

    files: IFiles
    paths: Paths
    _seen: tuple[FileStat, ...] = field(init=False)
    _options: CertificateOptions = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._seen = self._stat()
        self._options = self._load()

    def serverConnectionForTLS(self, protocol: Any) -> SSL.Connection:
        """As IOpenSSLServerConnectionCreator says."""
        try:
            if (now := self._stat()) != self._seen:
                self._seen = now
                self._options = self._load()
                log.info("{path} is in use now", path=str(self.paths.server_pem))
        except (OSError, X509CertError) as error:
            if isinstance(error, OSError):
                self._seen = ()  # perhaps for want of open files: the next time they may be readable
            log.error("the keys of before are kept: {error}", error=str(error))
        return SSL.Connection(self._options.getContext(), None)

    def _stat(self) -> tuple[FileStat, ...]:
        return tuple(self.files.stat(path) for path in (self.paths.server_pem, self.paths.authority_pem))

    def _load(self) -> CertificateOptions:
        own = self.paths.server_pem
        identity = Identity.from_bundle(self.files.read(own, MAX_KEY_FILE), str(own))
        return server_options(identity, self.files.read(self.paths.authority_pem, MAX_KEY_FILE))
