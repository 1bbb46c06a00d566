"""Each client of the Remote API against servers whose certificates are signed by the right authority and yet wrong."""

import datetime
import tempfile
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.rapi_client import CertificateError, Server, Token, authority_file
from ganeti_tx.runtime.certificates import Identity, issue_client, issue_server
from ganeti_tx.test.real import client_styles
from ganeti_tx.test.real.scripted_server import Issue, ScriptedServer, ok

NOW = datetime.datetime.now(datetime.UTC)


def without_names(authority: Identity) -> Identity:
    """A certificate that does not say whose it is, save in its subject."""
    signer = x509.load_pem_x509_certificate(authority.certificate)
    signing_key: Any = serialization.load_pem_private_key(authority.key, password=None)
    key = ec.generate_private_key(ec.SECP256R1())
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "joe")]))
        .issuer_name(signer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - datetime.timedelta(days=1))
        .not_valid_after(NOW + datetime.timedelta(days=1))
        .sign(signing_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return Identity(key=key.private_bytes(pem, *plain), certificate=made.public_bytes(pem))


class ServerCertificateContract:
    """What holds for every kind of client."""

    style: Any
    addCleanup: Any
    assertEqual: Any
    assertIn: Any
    fail: Any

    async def refused(self, issue: Issue, host: str = "127.0.0.1", **settings: Any) -> None:
        """Nothing is sent to this server, be the authority or the certificate itself what is trusted."""
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        at = ScriptedServer(Path(directory.name), lambda head, body: ok("2"), issue)
        self.addCleanup(deferToThread, at.close)
        for file in (at.authority, at.bundle):
            server = Server(host, at.port, trust=authority_file(file), credentials=Token("secret"), **settings)
            try:
                await self.style(server, lambda client: client.get_version())
            except CertificateError as error:
                self.assertIn("fingerprint", str(error))
            else:
                self.fail("trusted")
        self.assertEqual(at.heads, [])

    async def test_without_names(self) -> None:
        """A certificate without any name is for no server."""
        await self.refused(without_names)
        await self.refused(without_names, name="cluster.example.com")

    async def test_expired(self) -> None:
        """One that is no longer valid is not taken."""
        await self.refused(
            lambda authority: issue_server(authority, ["127.0.0.1"], NOW - datetime.timedelta(days=9999))
        )

    async def test_of_a_client(self) -> None:
        """One that was made for a client is not a server's."""
        await self.refused(lambda authority: issue_client(authority, "localhost", NOW), name="localhost")

    async def test_name_is_no_address(self) -> None:
        """One for a host name is not for the address, nor the other way round."""
        await self.refused(lambda authority: issue_server(authority, ["localhost"], NOW))
        await self.refused(lambda authority: issue_server(authority, ["127.0.0.1"], NOW), host="localhost")


class BlockingClientTests(ServerCertificateContract, TestCase):
    """The client that blocks."""

    style = staticmethod(client_styles.blocking)


class AsyncioClientTests(ServerCertificateContract, TestCase):
    """The client on asyncio."""

    style = staticmethod(client_styles.with_asyncio)


class TwistedClientTests(ServerCertificateContract, TestCase):
    """The client on Twisted."""

    style = staticmethod(client_styles.with_twisted)
