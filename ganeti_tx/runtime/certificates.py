"""The cluster's own certificate authority, and the certificates that it gives to nodes."""

import datetime
from collections.abc import Sequence

import attrs
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ganeti_tx.errors import X509CertError
from ganeti_tx.model.ip_address import parsed

#: How long the cluster trusts what it signed; renewing is a command of the administrator's.
VALIDITY = datetime.timedelta(days=3650)
#: Clocks of nodes may differ by this much.
SKEW, NOT_EARLY = datetime.timedelta(hours=1), datetime.timedelta()
#: Of a key that another cluster is shown while an instance moves (reference: remote-export.json, certificate), and the name
#: that the program of Ganeti's side which connects expects in a certificate (import-export-daemon.json, common_name).
TRANSFER_BITS, GANETI_NAME = 2048, "ganeti.example.com"


@attrs.frozen(kw_only=True)
class Identity:
    """A certificate with its private key, both PEM; the key shows itself nowhere."""

    certificate: bytes
    key: bytes = attrs.field(repr=False)

    @property
    def bundle(self) -> bytes:
        """Key and certificate in one file, as Ganeti's server.pem and client.pem hold them."""
        return self.key + self.certificate

    @classmethod
    def from_bundle(cls, data: bytes, name: str) -> "Identity":
        """@raise X509CertError: `name`, the file, does not hold both."""
        try:
            key = serialization.load_pem_private_key(data, password=None)
            certificate = x509.load_pem_x509_certificate(data)
        except (ValueError, TypeError) as error:
            raise X509CertError(name, f"does not hold a key and a certificate: {error}")
        if key.public_key() != certificate.public_key():
            raise X509CertError(name, "the key does not belong to the certificate")
        return cls(certificate=certificate.public_bytes(serialization.Encoding.PEM), key=private_bytes(key))


def private_bytes(key: object) -> bytes:
    """A private key as PEM without a passphrase; the file's mode protects it."""
    return key.private_bytes(  # type: ignore[attr-defined, no-any-return]
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def pem_of(certificate: x509.Certificate) -> bytes:
    """A certificate as it stands in files."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def create_authority(cluster_name: str, now: datetime.datetime) -> Identity:
    """A new authority that signs for one cluster only."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, f"{cluster_name} cluster authority"[:64]),
            # who trusts two authorities of one cluster finds by the name the one that signed
            x509.NameAttribute(NameOID.SERIAL_NUMBER, f"{x509.random_serial_number():x}"),
        ]
    )
    builder = (
        _builder(name, name, key, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(sign=True), critical=True)
    )
    return _signed(builder, key, key)


def issue_server(authority: Identity, names: Sequence[str], now: datetime.datetime) -> Identity:
    """A certificate for the node daemon; `names` are the host names and IP addresses it answers to."""
    extra = x509.SubjectAlternativeName([_general_name(name) for name in names])
    return _issue(authority, names[0], now, ExtendedKeyUsageOID.SERVER_AUTH, extra)


def issue_client(authority: Identity, node_name: str, now: datetime.datetime) -> Identity:
    """A certificate with which a node makes node calls."""
    extra = x509.SubjectAlternativeName([x509.DNSName(node_name)])
    return _issue(authority, node_name, now, ExtendedKeyUsageOID.CLIENT_AUTH, extra)


def transfer_identity(
    node_name: str, validity: datetime.timedelta, now: datetime.datetime, early: datetime.timedelta = NOT_EARLY
) -> Identity:
    """A key with a certificate signed by itself, which is its own authority for the other side of a move.

    @param early: by how much the other side's clock may be late.
    """
    key = rsa.generate_private_key(65537, TRANSFER_BITS)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, node_name[:64])])
    names = [x509.DNSName(each) for each in dict.fromkeys((node_name, GANETI_NAME))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - early)
        .not_valid_after(now + validity)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Identity(certificate=pem_of(certificate), key=private_bytes(key))


def _issue(
    authority: Identity,
    common_name: str,
    now: datetime.datetime,
    purpose: x509.ObjectIdentifier,
    names: x509.SubjectAlternativeName,
) -> Identity:
    signer = x509.load_pem_x509_certificate(authority.certificate)
    signing_key = serialization.load_pem_private_key(authority.key, password=None)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name[:64])])
    builder = (
        _builder(subject, signer.subject, key, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(sign=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(names, critical=False)
    )
    return _signed(builder, key, signing_key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + VALIDITY)
    )


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, signing_key: object) -> Identity:
    certificate = builder.sign(signing_key, hashes.SHA256())  # type: ignore[arg-type]
    return Identity(certificate=certificate.public_bytes(serialization.Encoding.PEM), key=private_bytes(key))


def _usage(sign: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=not sign,
        key_cert_sign=sign,
        crl_sign=sign,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(parsed(name))
    except ValueError:
        return x509.DNSName(name)


def digest(certificate: bytes) -> str:
    """A PEM certificate's SHA-256 fingerprint as upper-case hex pairs joined by colons, the form of Ganeti's digests.

    Ganeti 3.0 takes SHA-1, which is broken; no other program compares these digests.
    """
    try:
        found = x509.load_pem_x509_certificate(certificate)
    except ValueError as error:
        raise X509CertError("certificate", f"not a PEM certificate: {error}")
    return found.fingerprint(hashes.SHA256()).hex(":").upper()


def days_left(bundle: bytes, now: float) -> float:
    """How long the first certificate of a PEM file is good, from a time since the epoch. @raise ValueError: there is none."""
    end = x509.load_pem_x509_certificate(bundle[bundle.find(b"-----BEGIN CERTIFICATE") :]).not_valid_after_utc
    return (end.timestamp() - now) / 86400
