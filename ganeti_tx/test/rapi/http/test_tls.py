"""Which certificates are taken."""

import contextlib
import datetime
from pathlib import Path

from OpenSSL import SSL
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import X509CertError
from ganeti_tx.rapi.http.tls import MAX_FILE, RapiTls, load_options
from ganeti_tx.runtime.certificates import create_authority, issue_server
from ganeti_tx.test.fakes.files import MemoryFiles

PEM, KEY = Path("/etc/rapi/cert.pem"), Path("/etc/rapi/key.pem")
NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
AUTHORITY = create_authority("test", NOW)
ONE, OTHER = (issue_server(AUTHORITY, [name], NOW) for name in ("one", "other"))


class TlsTests(SynchronousTestCase):
    """Files with certificates and keys."""

    def setUp(self) -> None:
        self.files = MemoryFiles()

    def write(self, path: Path, data: bytes) -> None:
        """One more file."""
        self.files.mkdir(path.parent)
        self.successResultOf(self.files.write_atomic(path, data, 0o600))

    def refusal(self, certificate: Path = PEM, key: Path = PEM) -> str:
        """Why files are not taken."""
        return str(self.assertRaises(X509CertError, load_options, self.files, certificate, key))

    def test_bundle(self) -> None:
        """Both in one file, with the certificates that it was signed by."""
        self.write(PEM, ONE.bundle + AUTHORITY.certificate)
        options = load_options(self.files, PEM, PEM)
        self.assertEqual(len(options.extraCertChain), 1)

    def test_apart(self) -> None:
        """The key in a file of its own; it must belong to the certificate."""
        self.write(PEM, ONE.certificate)
        self.write(KEY, ONE.key)
        load_options(self.files, PEM, KEY)
        self.write(KEY, OTHER.key)
        self.assertIn("does not belong to it", self.refusal(key=KEY))

    def test_refused(self) -> None:
        """What is missing or cannot be read is named."""
        self.assertIn(str(PEM), self.refusal())
        self.write(PEM, b"nothing")
        self.assertIn("no certificate can be read", self.refusal())
        self.write(PEM, ONE.certificate)
        self.assertIn("no private key can be read", self.refusal())

    def agreed(self, *offered: bytes) -> bytes:
        """What a client that offers these protocols and the daemon agree on."""
        self.write(PEM, ONE.bundle)
        server = RapiTls(files=self.files, certificate=PEM, key=PEM).serverConnectionForTLS(None)
        client = SSL.Connection(SSL.Context(SSL.TLS_CLIENT_METHOD), None)
        if offered:
            client.set_alpn_protos(list(offered))
        server.set_accept_state()
        client.set_connect_state()
        for _ in range(4):
            for here, there in ((client, server), (server, client)):
                with contextlib.suppress(SSL.WantReadError):
                    here.do_handshake()
                with contextlib.suppress(SSL.WantReadError):
                    there.bio_write(here.bio_read(MAX_FILE))
        return client.get_alpn_proto_negotiated()

    def test_application_protocol(self) -> None:
        """HTTP/1.1 is agreed on, and who offers only something else is served all the same, as curl --http1.0."""
        self.assertEqual(self.agreed(b"h2", b"http/1.1"), b"http/1.1")
        for offered in ((), (b"http/1.0",), (b"h2",)):
            self.assertEqual(self.agreed(*offered), b"")

    def test_changes(self) -> None:
        """A new file is taken; one that is no good is not, nor does any other file matter."""
        self.write(PEM, ONE.bundle)
        tls = RapiTls(files=self.files, certificate=PEM, key=PEM)
        first = tls.serverConnectionForTLS(None).get_context()
        tls.file_changed("other.pem")
        self.assertIs(tls.serverConnectionForTLS(None).get_context(), first)
        self.write(PEM, b"nothing")
        tls.file_changed(PEM.name)
        self.assertIs(tls.serverConnectionForTLS(None).get_context(), first)
        self.write(PEM, OTHER.bundle)
        tls.file_changed(PEM.name)
        self.assertIsNot(tls.serverConnectionForTLS(None).get_context(), first)
