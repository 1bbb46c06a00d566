"""Certificates that clusters with one domain secret show one another."""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.backup.remote.signed_certificate import LONGEST, pem_in, signed, verified
from ganeti_tx.model.remote_moves import DomainSecret
from ganeti_tx.runtime.certificates import transfer_identity

SECRET = DomainSecret("secret-of-two")
SALT = "60c1b8d3b04398bb"
NOW = datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)


def certificate_of(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> str:
    """One that the key itself has signed."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "node1.example.com")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW + DAY)
        .sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM).decode()


class SignedCertificateTests(SynchronousTestCase):
    """How they are written and read."""

    pem = transfer_identity("node1.example.com", DAY, NOW).certificate.decode()

    def refused(self, reason: str, text: str, moment: datetime.datetime = NOW, secret: DomainSecret = SECRET) -> None:
        """It is, in one line."""
        error = self.assertRaises(OpPrereqError, verified, secret, text, "source_x509_ca", moment.timestamp())
        self.assertRegex(str(error), f"^source_x509_ca: .*{reason}")
        self.assertNotIn(SECRET.value, str(error))

    def test_read(self) -> None:
        """What is around it counts for nothing, and neither does how its header is written."""
        text = signed(SECRET, self.pem, SALT)
        self.assertEqual(
            text.splitlines()[:3],
            [f"X-Ganeti-Signature: {SALT}/{SECRET.sign(self.pem, SALT)}", "", self.pem.split("\n")[0]],
        )
        for other in (text, f"some text\n{text}more text", text.replace("X-Ganeti-Signature", "x-ganeti-SIGNATURE")):
            self.assertEqual(verified(SECRET, other, "source_x509_ca", NOW.timestamp()), self.pem)

    def test_refused(self) -> None:
        """Any other signature, or none."""
        text = signed(SECRET, self.pem, SALT)
        self.refused("signature invalid", text, secret=DomainSecret("another"))
        self.refused("signature invalid", text.replace(f"{SALT}/", f"{SALT[:-1]}d/"))
        self.refused("signature invalid", text.replace("M", "N"))
        self.refused("signature missing", self.pem)
        self.refused("signature missing", text.replace(f"{SALT}/", "a b/"))
        self.refused("signature missing", f"{self.pem}{text.splitlines()[0]}\n")
        self.refused("there is no certificate in it", text.splitlines()[0])
        self.refused("characters; allowed are", text + "x" * LONGEST)
        self.refused(
            "not a certificate", signed(SECRET, "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", SALT)
        )

    def test_dates(self) -> None:
        """It is good for its time, and as long before and after as clocks may differ."""
        text, skew = signed(SECRET, self.pem, SALT), datetime.timedelta(seconds=140)
        for moment in (NOW - skew, NOW + DAY + skew):
            self.assertEqual(verified(SECRET, text, "source_x509_ca", moment.timestamp()), self.pem)
        self.refused("the certificate expired at 2026-05-02 12:00:00 UTC", text, NOW + DAY + 2 * skew)
        self.refused("is not valid before 2026-05-01 12:00:00 UTC", text, NOW - 2 * skew)

    def test_keys(self) -> None:
        """Weak ones are none."""
        for key, reason in (
            (rsa.generate_private_key(65537, 1024), "its key is too weak: at least 2048 bits are expected"),
            (ec.generate_private_key(ec.SECP192R1()), "its key is too weak: at least 256 bits"),
            (ed25519.Ed25519PrivateKey.generate(), "neither RSA nor of an elliptic curve"),
        ):
            self.refused(reason, signed(SECRET, certificate_of(key), SALT))
        good = certificate_of(ec.generate_private_key(ec.SECP256R1()))
        self.assertEqual(verified(SECRET, signed(SECRET, good, SALT), "source_x509_ca", NOW.timestamp()), pem_in(good))
