"""Which server certificates a client on Twisted takes."""

import re
from typing import Any

from attrs import frozen
from OpenSSL import SSL, crypto
from service_identity import CertificateError as BadNames
from service_identity import VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.internet.ssl import (
    Certificate,
    CertificateOptions,
    TLSVersion,
    optionsForClientTLS,
    platformTrust,
    trustRootFromCertificates,
)
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.rapi_client import connect_errors
from ganeti_tx.rapi_client.errors import NoAnswerError
from ganeti_tx.rapi_client.server import Server
from ganeti_tx.rapi_client.trust import Authorities, Pin, check_pin

_END = re.compile("(?<=-----END CERTIFICATE-----)")


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _Chained:
    """Verifies the chain, `check_certificate` the name; the server's own certificate may be the authority.

    Twisted's own look at the name lets a certificate without names pass for any.
    """

    options: Any

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        """As the interface says."""
        connection: SSL.Connection = self.options.clientConnectionForTLS(tlsProtocol)
        store = connection.get_context().get_cert_store()
        if store is not None:
            store.set_flags(crypto.X509StoreFlags.PARTIAL_CHAIN)
        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, _as_openssl_says)
        return connection


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _Pinned:
    """Verifies nothing: `check_certificate` does."""

    options: CertificateOptions
    name: str

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:
        """As the interface says."""
        connection = SSL.Connection(self.options.getContext(), None)
        if not _is_address(self.name):
            connection.set_tlsext_host_name(self.name.encode("ascii"))  # by which the server may choose a certificate
        return connection


def connection_creator(server: Server) -> Any:
    """What begins TLS. @raise X509CertError: the authorities are not certificates."""
    least: Any = {"raiseMinimumTo": TLSVersion.TLSv1_2}
    if isinstance(server.trust, Pin):
        return _Pinned(CertificateOptions(**least), server.verified_name)
    roots: Any = platformTrust()
    if isinstance(server.trust, Authorities):
        roots = trustRootFromCertificates(_certificates(server.trust))
    return _Chained(optionsForClientTLS(server.verified_name, trustRoot=roots, extraCertificateOptions=least))


def _as_openssl_says(connection: SSL.Connection, certificate: crypto.X509, error: int, depth: int, ok: int) -> bool:
    return bool(ok)


def check_certificate(server: Server, certificate: crypto.X509) -> None:
    """Look at the server's certificate after the handshake, before anything is sent. @raise CertificateError"""
    if isinstance(server.trust, Pin):
        return check_pin(server.trust, crypto.dump_certificate(crypto.FILETYPE_ASN1, certificate))
    name = server.verified_name
    wanted = IPAddress_ID(name) if _is_address(name) else DNS_ID(name)
    try:
        verify_service_identity(extract_patterns(certificate), [wanted], [])
    except (VerificationError, BadNames):
        raise connect_errors.distrusted(server, f"it is not for {name}") from None


def _is_address(name: str) -> bool:
    return isIPAddress(name) or isIPv6Address(name)


def _certificates(authorities: Authorities) -> list[Certificate]:
    try:
        return [Certificate.loadPEM(each.encode()) for each in _END.split(authorities.pem) if each.strip()]
    except crypto.Error as error:
        raise X509CertError("authority", f"not a PEM certificate: {error}") from None


def tls_error(server: Server, error: BaseException | None) -> NoAnswerError:
    """Why a connection ended before the handshake was done."""
    if isinstance(error, SSL.Error):
        texts = [str(each[-1]) for each in error.args[0]] if error.args and isinstance(error.args[0], list) else []
        return connect_errors.distrusted(server, "; ".join(texts) or "TLS failed")
    return connect_errors.lost(server, error)
