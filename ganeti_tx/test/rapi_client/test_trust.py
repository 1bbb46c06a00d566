"""Which certificates are taken."""

import datetime
import hashlib
import ssl
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import X509CertError
from ganeti_tx.rapi_client.errors import CertificateError
from ganeti_tx.rapi_client.server import Server
from ganeti_tx.rapi_client.trust import SYSTEM, Authorities, authority_file, check_pin, pin, ssl_context
from ganeti_tx.rapi_client.twisted_trust import connection_creator
from ganeti_tx.runtime.certificates import create_authority

IDENTITY = create_authority("c", datetime.datetime.now(datetime.UTC))
DER = ssl.PEM_cert_to_DER_cert(IDENTITY.certificate.decode())


class TrustTests(SynchronousTestCase):
    """What a client can be told to trust."""

    def file(self, content: bytes) -> Path:
        """A file with this in it."""
        path = Path(self.mktemp())
        path.write_bytes(content)
        return path

    def test_authority_file(self) -> None:
        """All certificates of a file count, and no key in it is kept."""
        found = authority_file(self.file(IDENTITY.bundle + b"text\n" + IDENTITY.certificate))
        self.assertEqual(found.pem.count("BEGIN CERTIFICATE"), 2)
        self.assertNotIn("PRIVATE", found.pem)
        self.assertEqual(len(ssl_context(found).get_ca_certs()), 1)
        connection_creator(Server("c", trust=found))

    def test_no_authority(self) -> None:
        """A file without a certificate, or none, is told by its name."""
        for path in (self.file(IDENTITY.key), Path("/nowhere/rapi.pem")):
            error = self.assertRaises(X509CertError, authority_file, path)
            self.assertIn(str(path), str(error))

    def test_broken_authority(self) -> None:
        """What only looks like a certificate is refused when the client is made."""
        broken = Authorities("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        self.assertRaises(X509CertError, ssl_context, broken)
        self.assertRaises(X509CertError, connection_creator, Server("c", trust=broken))

    def test_no_authorities(self) -> None:
        """Nobody at all is not the same as the system's authorities."""
        for pem in ("", "\n", "no certificate"):
            self.assertRaises(X509CertError, Authorities, pem)

    def test_pin(self) -> None:
        """A fingerprint fits one certificate, however it is written."""
        digits = hashlib.sha256(DER).hexdigest()
        for text in (digits, digits.upper(), ":".join(digits[i : i + 2] for i in range(0, 64, 2))):
            check_pin(pin(text), DER)
        for other in (DER + b"\0", b"", None):
            self.assertRaises(CertificateError, check_pin, pin(digits), other)

    def test_no_pin(self) -> None:
        """What is no SHA-256 fingerprint is refused, SHA-1 too."""
        for text in ("", "ab", "g" * 64, "ab" * 20, "ab" * 33):
            self.assertRaises(X509CertError, pin, text)

    def test_verifying(self) -> None:
        """Chain and name are verified, save where one certificate is pinned; TLS is 1.2 at least."""
        for trust in (SYSTEM, Authorities(IDENTITY.certificate.decode())):
            context = ssl_context(trust)
            self.assertEqual((context.verify_mode, context.check_hostname), (ssl.CERT_REQUIRED, True))
            self.assertGreaterEqual(context.minimum_version, ssl.TLSVersion.TLSv1_2)
