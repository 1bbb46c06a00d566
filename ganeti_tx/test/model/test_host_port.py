"""Host and port in one word, as each place needs it that writes them so."""

from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.instance import console
from ganeti_tx.model.host_port import bracketed, host_port
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.migration import uri
from ganeti_tx.node.storage.drbd.command import disconnect_argv
from ganeti_tx.rapi.access.ldap_settings import ServerUrl
from ganeti_tx.rapi_client.server import Server

NAME, OLD, NEW = "node1.example.com", "192.0.2.11", "2001:db8::11"


class HostPortTests(SynchronousTestCase):
    """Names and addresses of both kinds."""

    def test_joined(self) -> None:
        """Only what has colons of its own stands in brackets, and a reader of URLs finds both again."""
        self.assertEqual([host_port(host, 80) for host in (NAME, OLD, NEW)], [f"{NAME}:80", f"{OLD}:80", f"[{NEW}]:80"])
        self.assertEqual(bracketed("::"), "[::]")
        for host in (NAME, OLD, NEW, "::1"):
            parts = urlsplit(f"https://{host_port(host, 5080)}/2")
            self.assertEqual((parts.hostname, parts.port), (host, 5080))

    def test_migration(self) -> None:
        """Where QEMU waits for a machine."""
        params = KvmParams(migration_port=8102)
        self.assertEqual([uri(host, params) for host in (OLD, "::1")], [f"tcp:{OLD}:8102", "tcp:[::1]:8102"])

    def test_consoles(self) -> None:
        """What is said of a VNC or SPICE console can be given to a viewer."""
        found = {"instance": "web1", "host": NEW, "port": 11000, "display": 5100}
        self.assertIn(f"on [{NEW}]:11000 (display 5100), URL <vnc://[{NEW}]:11000/>", console._vnc(found))
        self.assertIn(f"on [{NEW}]:11000", console._spice(found))

    def test_programs(self) -> None:
        """A mirror's ends, an LDAP server, and the Remote API."""
        self.assertEqual(disconnect_argv((NEW, 7), (OLD, 7))[2:], [f"ipv6:[{NEW}]:7", f"ipv4:{OLD}:7"])
        self.assertEqual(str(ServerUrl(scheme="ldap", host=NEW, port=389)), f"ldap://[{NEW}]:389")
        self.assertEqual(Server(NEW).netloc, f"[{NEW}]:5080")
