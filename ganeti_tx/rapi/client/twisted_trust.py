"""Which server certificates a client on Twisted takes."""

import re
from typing import Any

from attrs import frozen
from OpenSSL import SSL, crypto
from service_identity import VerificationError
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.internet.ssl import (
    Certificate,
    CertificateOptions,
    TLSVersion,
    optionsForClientTLS,
    platformTrust,
    trustRootFromCertificates,
)
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.rapi.client import connect_errors
from ganeti_tx.rapi.client.errors import NoAnswerError
from ganeti_tx.rapi.client.server import Server
from ganeti_tx.rapi.client.trust import Authorities, Pin

_END = re.compile("(?<=-----END CERTIFICATE-----)")


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _Named:
    """Verifies chain and name; the server's own certificate may be the authority."""

    options: Any

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        """As the interface says."""
        connection: SSL.Connection = self.options.clientConnectionForTLS(tlsProtocol)
        store = connection.get_context().get_cert_store()
        if store is not None:
            store.set_flags(crypto.X509StoreFlags.PARTIAL_CHAIN)
        return connection


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _Pinned:
    """Verifies nothing: `check_pin` looks at the certificate after the handshake, before anything is sent."""

    options: CertificateOptions

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        """As the interface says."""
        return SSL.Connection(self.options.getContext(), None)


def connection_creator(server: Server) -> Any:
    """What begins TLS. @raise X509CertError: the authorities are not certificates."""
    least: Any = {"raiseMinimumTo": TLSVersion.TLSv1_2}
    if isinstance(server.trust, Pin):
        return _Pinned(CertificateOptions(**least))
    roots: Any = platformTrust()
    if isinstance(server.trust, Authorities):
        roots = trustRootFromCertificates(_certificates(server.trust))
    return _Named(optionsForClientTLS(server.verified_name, trustRoot=roots, extraCertificateOptions=least))


def _certificates(authorities: Authorities) -> list[Certificate]:
    try:
        return [Certificate.loadPEM(each.encode()) for each in _END.split(authorities.pem) if each.strip()]
    except crypto.Error as error:
        raise X509CertError("authority", f"not a PEM certificate: {error}") from None


def tls_error(server: Server, reason: Failure) -> NoAnswerError:
    """Why a connection ended before or after the server was known to be the right one."""
    error = reason.value
    if isinstance(error, VerificationError):
        return connect_errors.distrusted(server, f"it is not for {server.verified_name}")
    if isinstance(error, SSL.Error):
        texts = [str(each[-1]) for each in error.args[0]] if error.args and isinstance(error.args[0], list) else []
        return connect_errors.distrusted(server, "; ".join(texts) or "TLS failed")
    return connect_errors.lost(server, error)
