"""Real displays of a real QEMU, and clients that have the right password and certificates, or wrong ones, or none."""

import socket
import ssl
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.bootstrap.keys import utc_now, write_spice_keys
from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.runtime.certificates import create_authority, issue_server
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real import rfb_client, spice_client
from ganeti_tx.test.real.kvm_node import KvmNode, display_port
from ganeti_tx.test.real.rfb_client import Refused, RfbClient
from ganeti_tx.test.real.spice_client import SpiceClient

SECRET = "s3cr3t99"
HERE = "127.0.0.1"


class DisplayCase(TestCase):
    """A node with the cluster's keys for SPICE, which serve VNC, too, and a file with a password."""

    timeout = 120

    def setUp(self) -> None:
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        self.driver = self.node.driver()
        paths = self.node.paths
        paths.data_dir.mkdir(parents=True)
        write_spice_keys(paths, "cluster.example.com")
        self.x509 = self.node.top / "x509"
        self.x509.mkdir()
        (self.x509 / "ca-cert.pem").symlink_to(paths.spice_ca_pem)
        for name in ("server-cert.pem", "server-key.pem"):
            (self.x509 / name).symlink_to(paths.spice_pem)
        self.password = self.node.top / "password"
        self.password.write_text(SECRET + "\n")
        self.trust = paths.spice_ca_pem

    async def start(self, **hvparams: Any) -> tuple[str, int]:
        """Start a machine that stands still, and hold that nobody sees the password; where its display is."""
        spec = kvm_spec(vcpus=1, network_port=display_port(), kvm_flag="disabled", **hvparams)
        await self.driver.start(spec, [], paused=True)
        self.check_hidden(spec)
        assert spec.network_port is not None
        return HERE, spec.network_port

    async def stop(self) -> None:
        """End it."""
        await self.driver.stop(NAME, 0.0, force=True)

    def check_hidden(self, spec: InstanceSpec) -> None:
        """The password is in no argument of a process, and in no file of the node but its own."""
        for pid in self.node.processes():
            self.assertNotIn(SECRET.encode(), Path(f"/proc/{pid}/cmdline").read_bytes())
        for path in self.node.top.rglob("*"):
            if path.is_file() and path != self.password:
                self.assertNotIn(SECRET.encode(), path.read_bytes(), path)

    async def refused(self, what: Callable[[], object]) -> str:
        """With which words a client is not let in."""
        try:
            await deferToThread(what)
        except (Refused, ssl.SSLError, ConnectionError) as error:
            return str(error)
        raise AssertionError("it was let in")


class VncTests(DisplayCase):
    """VNC."""

    async def test_password(self) -> None:
        """Without TLS the password decides; only its first eight bytes count, as VNC has it."""
        self.password.write_text(f"{SECRET}and-more\n")
        where = await self.start(vnc_bind_address=HERE, vnc_password_file=str(self.password))
        asked = (rfb_client.VNC_PASSWORD, 0)
        self.assertEqual(await deferToThread(RfbClient(where, password=SECRET).greet), asked)
        for wrong in ("s3cr3t98", "", None):
            self.assertIn("Auth", await self.refused(RfbClient(where, password=wrong).greet))

    async def test_tls(self) -> None:
        """With TLS there is no way around it: the certificate is the one in the directory, and the password is asked behind it."""
        tls = {"vnc_bind_address": HERE, "vnc_tls": True, "vnc_x509_path": str(self.x509)}
        where = await self.start(**tls, vnc_password_file=str(self.password))
        both = (rfb_client.VENCRYPT, rfb_client.X509_PASSWORD)
        self.assertEqual(await deferToThread(RfbClient(where, self.trust, password=SECRET).greet), both)
        self.assertIn("Auth", await self.refused(RfbClient(where, self.trust, password="s3cr3t98").greet))
        other = self.node.top / "other.pem"
        other.write_bytes(create_authority("other", utc_now()).certificate)
        self.assertIn("verify failed", await self.refused(RfbClient(where, other, password=SECRET).greet))
        named = RfbClient(where, self.trust, password=SECRET, server_name="other.example.com")
        self.assertIn("mismatch", await self.refused(named.greet))
        await self.stop()
        where = await self.start(**tls)
        alone = (rfb_client.VENCRYPT, rfb_client.X509_NONE)
        self.assertEqual(await deferToThread(RfbClient(where, self.trust).greet), alone)

    async def test_socket(self) -> None:
        """A directory to be bound to has a socket for each instance, which the console's text names, and which is root's."""
        spec = kvm_spec(vcpus=1, kvm_flag="disabled", serial_console=False, vnc_bind_address=str(self.x509))
        await self.driver.start(spec, [], paused=True)
        path = self.x509 / f"{NAME}.vnc"
        self.assertEqual(path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH), 0)
        console = await self.driver.console(spec)
        said = f"Instance {NAME} has VNC listening on the socket {path} of node {spec.primary_node}"
        self.assertEqual((console.kind, console.message), ("msg", said))

    async def test_clients_certificates(self) -> None:
        """With vnc_x509_verify only who has a certificate of the same authority is let in."""
        authority = create_authority("display", utc_now())
        for path in self.x509.iterdir():
            path.unlink()
        server = issue_server(authority, ["cluster.example.com"], utc_now()).bundle
        client = self.node.top / "client.pem"
        client.write_bytes(issue_server(authority, ["client.example.com"], utc_now()).bundle)
        for name, data in (("ca", authority.certificate), ("server", server)):
            (self.x509 / f"{name}-cert.pem").write_bytes(data)
        (self.x509 / "server-key.pem").write_bytes(server)
        tls = {"vnc_tls": True, "vnc_x509_path": str(self.x509), "vnc_x509_verify": True}
        where = await self.start(vnc_bind_address=HERE, **tls)
        trust = self.x509 / "ca-cert.pem"
        await self.refused(RfbClient(where, trust).greet)
        greeted = await deferToThread(RfbClient(where, trust, certificate=client).greet)
        self.assertEqual(greeted, (rfb_client.VENCRYPT, rfb_client.X509_NONE))


class SpiceTests(DisplayCase):
    """SPICE."""

    async def test_tls(self) -> None:
        """The port speaks TLS alone, with the cluster's certificate; the password decides behind it."""
        where = await self.start(spice_bind=HERE, spice_use_tls=True, spice_password_file=str(self.password))
        right = SpiceClient(where, self.trust, SECRET)
        self.assertEqual(await deferToThread(right.greet), spice_client.WELCOME)
        wrong = SpiceClient(where, self.trust, "s3cr3t98")
        self.assertEqual(await deferToThread(wrong.greet), spice_client.PERMISSION_DENIED)
        self.assertTrue(await self.refused(SpiceClient(where, None, SECRET).greet))
        named = SpiceClient(where, self.trust, SECRET, server_name="other.example.com")
        self.assertIn("mismatch", await self.refused(named.greet))

    async def test_ciphers(self) -> None:
        """Others than those of spice_tls_ciphers are not taken."""
        chosen = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384"
        where = await self.start(spice_bind=HERE, spice_use_tls=True, spice_tls_ciphers=chosen)
        self.assertEqual(
            await deferToThread(SpiceClient(where, self.trust, ciphers=chosen).greet), spice_client.WELCOME
        )
        other = chosen.replace("AES256-GCM-SHA384", "AES128-GCM-SHA256")
        self.assertIn("HANDSHAKE", await self.refused(SpiceClient(where, self.trust, ciphers=other).greet))

    async def test_password(self) -> None:
        """Without TLS, too; and without a password whoever comes is let in, as with the parameter's default."""
        where = await self.start(spice_bind=HERE, spice_password_file=str(self.password))
        self.assertEqual(await deferToThread(SpiceClient(where, None, SECRET).greet), spice_client.WELCOME)
        for wrong in ("", "s3cr3t9", SECRET + "9"):
            said = await deferToThread(SpiceClient(where, None, wrong).greet)
            self.assertEqual(said, spice_client.PERMISSION_DENIED)
        await self.stop()
        where = await self.start(spice_bind=HERE)
        self.assertEqual(await deferToThread(SpiceClient(where).greet), spice_client.WELCOME)


class PlaceTests(DisplayCase):
    """Where displays listen."""

    async def test_bound_to_interface(self) -> None:
        """One that is bound to an interface listens on its address, and the console says where."""
        for name, kind in (("vnc_bind_address", "vnc"), ("spice_bind", "spice")):
            bound: dict[str, Any] = {name: "lo", "serial_console": False, "kvm_flag": "disabled"}
            spec = kvm_spec(vcpus=1, network_port=display_port(), **bound)
            await self.driver.start(spec, [])
            for driver in (self.driver, self.node.driver()):
                console = await driver.console(spec)
                self.assertEqual((console.kind, console.host), (kind, HERE))
            (await deferToThread(socket.create_connection, (HERE, spec.network_port), 10)).close()
            await self.stop()


class MissingTests(DisplayCase):
    """What a display needs and is not there."""

    async def test_named(self) -> None:
        """Each is told by its parameter and its path before QEMU is started."""
        (self.x509 / "server-key.pem").unlink()
        self.trust.unlink()
        for params, wanted in (
            (
                {"vnc_bind_address": HERE, "vnc_password_file": "/no/password"},
                "vnc_password_file: /no/password is not on",
            ),
            (
                {"spice_bind": HERE, "spice_password_file": "/no/password"},
                "spice_password_file: /no/password is not on",
            ),
            (
                {"vnc_bind_address": HERE, "vnc_tls": True, "vnc_x509_path": str(self.x509)},
                f"vnc_x509_path: {self.x509}/server-key.pem is not on this node",
            ),
            ({"spice_bind": HERE, "spice_use_tls": True}, f"spice_use_tls: {self.trust} is not on this node"),
            ({"vnc_bind_address": "nosuch0"}, "vnc_bind_address: nosuch0"),
        ):
            with self.assertRaises(HypervisorError) as caught:
                await self.driver.start(kvm_spec(network_port=display_port(), **params), [])
            self.assertIn(wanted, str(caught.exception))
            self.assertEqual(self.node.remains(), [])

    async def test_empty_password(self) -> None:
        """A file without a password fails the start, and its QEMU is ended."""
        self.password.write_text("")
        with self.assertRaises(HypervisorError) as caught:
            await self.start(vnc_bind_address=HERE, vnc_password_file=str(self.password))
        self.assertIn(str(self.password), str(caught.exception))
        self.assertEqual(self.node.remains(), [])
