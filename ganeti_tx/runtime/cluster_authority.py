"""The cluster's own authority as a node has it: whom it trusts, with which key it signs, and what was signed by whom."""

import datetime
from collections.abc import Sequence

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from ganeti_tx.errors import X509CertError
from ganeti_tx.runtime.certificates import Identity, issue_client, issue_server, pem_of


def certificates_in(data: bytes, name: str) -> list[x509.Certificate]:
    """All of a PEM file, at least one; keys beside them are passed over. @raise X509CertError: `name`, the file, has none."""
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise X509CertError(name, f"does not hold a certificate: {error}")


def signing_authority(trusted: bytes, key: bytes, name: str) -> Identity:
    """The one of the trusted authorities that a key belongs to. @raise X509CertError: none, or `name`, the file, is no key."""
    try:
        public = load_pem_private_key(key, password=None).public_key()
    except (ValueError, TypeError) as error:
        raise X509CertError(name, f"does not hold a key: {error}")
    for certificate in certificates_in(trusted, "ca.pem"):
        if certificate.public_key() == public:
            return Identity(certificate=pem_of(certificate), key=key)
    raise X509CertError(name, "the key belongs to no authority that is trusted here")


def is_issued_by(bundle: bytes, trusted: bytes) -> bool:
    """Whether the first certificate of a file was signed by one of the authorities. @raise X509CertError: there is none."""
    own = certificates_in(bundle, "certificate")[0]
    return any(_signed(own, authority) for authority in certificates_in(trusted, "ca.pem"))


def _signed(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def have_in_common(one: bytes, other: bytes) -> bool:
    """Whether two files of authorities share one: while a new one comes, nodes have it and the former one."""
    try:
        return one == other or not set(certificates_in(one, "")).isdisjoint(certificates_in(other, ""))
    except X509CertError:
        return False


def together(certificates: Sequence[bytes]) -> bytes:
    """One file of authorities, each once."""
    return b"".join(dict.fromkeys(pem_of(each) for data in certificates for each in certificates_in(data, "ca.pem")))


def node_identities(
    authority: Identity, name: str, addresses: Sequence[str], now: datetime.datetime
) -> tuple[Identity, Identity]:
    """By what a node is known when it is called, and when it calls."""
    names = [name, *dict.fromkeys(addresses)]
    return issue_server(authority, names, now), issue_client(authority, name, now)


def rapi_bundle(authority: Identity, cluster_name: str, master_ip: str, now: datetime.datetime) -> bytes:
    """What the Remote API shows on whichever node is the master; who trusts the authority can check the cluster's name."""
    server = issue_server(authority, [cluster_name, master_ip], now)
    return server.bundle + authority.certificate
