"""Mutual TLS between nodes: both ends show a certificate of the cluster's authority, and the caller checks the name."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

from attrs import frozen
from cryptography.x509 import DNSName, ExtensionNotFound, SubjectAlternativeName
from OpenSSL import SSL, crypto
from service_identity import VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.internet.ssl import Certificate, CertificateOptions, PrivateCertificate, TLSVersion, optionsForClientTLS
from twisted.internet.ssl import trustRootFromCertificates as trust
from twisted.python.failure import Failure
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.cluster_authority import certificates_in

#: The digests of the certificates that the server with an address may show.
Pinned = Callable[[str], frozenset[str]]


def load_authorities(certificates: bytes) -> list[Certificate]:
    """All of a file: while one takes the place of another both are trusted. @raise X509CertError: there is none."""
    found = certificates_in(certificates, "certificate authority")
    return [Certificate(crypto.X509.from_cryptography(each)) for each in found]


def load_identity(identity: Identity) -> PrivateCertificate:
    """@raise X509CertError: not a key and a certificate that belong together."""
    try:
        own: PrivateCertificate = PrivateCertificate.loadPEM(identity.bundle)
        return own
    except (crypto.Error, SSL.Error) as error:
        raise X509CertError("identity", f"not a key and its certificate: {error}")


def server_options(identity: Identity, authority: bytes) -> CertificateOptions:
    """For a listener that talks to nobody without a certificate of an authority that it trusts."""
    own = load_identity(identity)
    return CertificateOptions(
        privateKey=own.privateKey.original,
        certificate=own.original,
        trustRoot=trust(load_authorities(authority)),
        raiseMinimumTo=TLSVersion.TLSv1_2,
    )


@implementer(IPolicyForHTTPS)
class NodeTrust:
    """For an HTTP agent: shows our certificate, takes only the authority's, checks the address in it.

    @param pinned: the digests of the certificates that an address may show; with none, the authority's word is all that
        there is.
    """

    def __init__(self, identity: Identity, authority: bytes, pinned: Pinned = lambda address: frozenset()) -> None:
        self._identity = load_identity(identity)
        self._pinned = pinned
        self._trust = trust(load_authorities(authority))
        self._options: dict[tuple[bytes, int], Any] = {}

    def creatorForNetloc(self, hostname: bytes, port: int) -> Any:
        """Options for one server; kept, so that TLS sessions can be resumed."""
        key = (hostname, port)
        if key not in self._options:
            address = hostname.decode("ascii")
            options = optionsForClientTLS(
                address,
                trustRoot=self._trust,
                clientCertificate=self._identity,
                extraCertificateOptions={"raiseMinimumTo": TLSVersion.TLSv1_2},
            )
            self._options[key] = PinnedConnections(options, address.strip("[]"), self._pinned)
        return self._options[key]


class NotTheNode(Exception):
    """The text is for whoever made the call."""


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class PinnedConnections:
    """Ends the handshake, before anything was said, with a server that shows another certificate than it should."""

    options: Any
    address: str
    pinned: Pinned

    def clientConnectionForTLS(self, protocol: Any) -> SSL.Connection:
        """As the interface says."""
        connection: SSL.Connection = self.options.clientConnectionForTLS(protocol)
        told = ref(protocol)

        def verify(_connection: Any, certificate: Any, _error: int, depth: int, right: int) -> bool:
            if not right or depth > 0:
                return bool(right)
            try:
                self._check(certificate)
            except Exception as error:  # one that left this callback would be lost, and the handshake go on
                if (hearer := told()) is not None:
                    hearer.failVerification(Failure(error))
                return False
            return True

        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, verify)
        return connection

    def _check(self, certificate: Any) -> None:
        """@raise NotTheNode: it is not of this address, or another than the one that is known."""
        try:
            verify_service_identity(extract_patterns(certificate), [service_of(self.address)], [])
        except VerificationError:
            raise NotTheNode(f"it shows a certificate that is not for {self.address}") from None
        known = self.pinned(self.address)
        if known and certificate.digest("sha256").decode("ascii") not in known:
            raise NotTheNode(
                "it shows another certificate than the one that the cluster knows it by; if it was set up anew, add it "
                "again with 'gnt-node add --readd'"
            )


def service_of(host: str) -> DNS_ID | IPAddress_ID:
    """What a certificate for a host must name."""
    try:
        return IPAddress_ID(host)
    except ValueError:
        return DNS_ID(host)


@frozen
class Shown:
    """The certificate that the other end showed: its SHA-256 digest, and the name in it."""

    digest: str
    name: str | None


#: By connection, which shows one certificate once. To take it apart costs more than most calls that come over it.
SHOWN: WeakKeyDictionary[object, Shown] = WeakKeyDictionary()


def shown(transport: Any) -> Shown | None:
    """What the other end of a connection showed; None without a certificate."""
    if (known := SHOWN.get(transport)) is not None:
        return known
    get = getattr(transport, "getPeerCertificate", None)
    certificate = get() if get is not None else None
    if certificate is None:
        return None
    found = SHOWN[transport] = Shown(str(certificate.digest("sha256").decode("ascii")), name_in(certificate))
    return found


def name_in(certificate: crypto.X509) -> str | None:
    """The first name that a certificate is for; None without one."""
    try:
        extension = certificate.to_cryptography().extensions.get_extension_for_class(SubjectAlternativeName)
    except ExtensionNotFound:
        return None
    names: list[str] = extension.value.get_values_for_type(DNSName)
    return names[0] if names else None


def peer_digest(transport: Any) -> str | None:
    """The SHA-256 digest of the certificate that the other end showed; None without one."""
    found = shown(transport)
    return None if found is None else found.digest


def peer_name(transport: Any) -> str | None:
    """The name in the certificate that the other end showed; None without one."""
    found = shown(transport)
    return None if found is None else found.name


#: Whether the holder of the certificate with this digest may make node calls.
Admits = Callable[[str], bool]
