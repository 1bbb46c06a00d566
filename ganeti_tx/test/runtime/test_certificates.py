"""The cluster's authority and what it signs."""

from datetime import UTC, datetime

from cryptography import x509
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import X509CertError
from ganeti_tx.runtime.certificates import (
    SKEW,
    VALIDITY,
    Identity,
    create_authority,
    digest,
    issue_client,
    issue_server,
)

NOW = datetime(2030, 1, 2, tzinfo=UTC)


class CertificateTests(SynchronousTestCase):
    """Making, writing and reading."""

    def setUp(self) -> None:
        """An authority and a node's certificate."""
        self.authority = create_authority("cluster.example.com", NOW)
        self.node = issue_server(self.authority, ["node1.example.com", "192.0.2.1", "2001:db8::1"], NOW)

    def names(self, pem: bytes) -> x509.SubjectAlternativeName:
        """What a certificate answers to."""
        found = x509.load_pem_x509_certificate(pem).extensions
        return found.get_extension_for_class(x509.SubjectAlternativeName).value

    def test_signed(self) -> None:
        """The authority signs; names and addresses of both families are in the certificate."""
        certificate = x509.load_pem_x509_certificate(self.node.certificate)
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(self.authority.certificate))
        names = self.names(self.node.certificate)
        self.assertEqual(names.get_values_for_type(x509.DNSName), ["node1.example.com"])
        self.assertEqual([str(ip) for ip in names.get_values_for_type(x509.IPAddress)], ["192.0.2.1", "2001:db8::1"])

    def test_validity(self) -> None:
        """It counts from a little before now, as clocks differ, for as long as it says."""
        certificate = x509.load_pem_x509_certificate(self.node.certificate)
        self.assertEqual(certificate.not_valid_before_utc, NOW - SKEW)
        self.assertEqual(certificate.not_valid_after_utc, NOW + VALIDITY)

    def test_long_name(self) -> None:
        """A name longer than X.509's common name still gets its certificate."""
        name = ".".join(["n" * 60, "d" * 60, "example"])
        names = self.names(issue_client(self.authority, name, NOW).certificate)
        self.assertEqual(names.get_values_for_type(x509.DNSName), [name])

    def test_files(self) -> None:
        """An identity comes back from its file as it was."""
        self.assertEqual(Identity.from_bundle(self.node.bundle, "server.pem"), self.node)

    def test_broken_files(self) -> None:
        """A file that does not hold both is refused with its name."""
        broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for content in (b"", self.node.certificate, self.node.key, self.node.key + broken):
            failure = self.assertRaises(X509CertError, Identity.from_bundle, content, "/x/server.pem")
            self.assertIn("/x/server.pem", str(failure))

    def test_foreign_key(self) -> None:
        """A key that is not the certificate's is refused."""
        other = issue_server(self.authority, ["node2"], NOW)
        wrong = self.node.key + other.certificate
        failure = self.assertRaises(X509CertError, Identity.from_bundle, wrong, "/x/server.pem")
        self.assertIn("does not belong", str(failure))

    def test_digest(self) -> None:
        """A digest is 32 upper-case hex pairs joined by colons; no two certificates share one."""
        self.assertRegex(digest(self.node.certificate), r"\A([0-9A-F]{2}:){31}[0-9A-F]{2}\Z")
        self.assertNotEqual(digest(self.node.certificate), digest(self.authority.certificate))
        self.assertRaises(X509CertError, digest, b"no certificate")

    def test_key_is_not_shown(self) -> None:
        """The key does not get into logs."""
        self.assertNotIn("PRIVATE", repr(self.node))
