"""Host and port in one word, as each place needs it that writes them so."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.instance import console
from ganeti_tx.model.host_port import bracketed, host_port
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.migration import uri
from ganeti_tx.node.storage.drbd.command import disconnect_argv
from ganeti_tx.rapi.access.ldap_settings import ServerUrl
from ganeti_tx.rapi_client.server import Server

PACKAGE = Path(__file__).parents[2]
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


class OnePlaceTests(SynchronousTestCase):
    """What is easily written anew, without IPv6."""

    def test_nowhere_else(self) -> None:
        """Nobody else joins an address and a port, tells families by a colon, or asks the system for a name."""
        joins = r"\{[^{}]*(host|address|interface|_ip)[^{}]*\}:\{"
        wanted = {
            # what is signed of a remote export is never taken apart again; DRBD's word for the family comes before
            joins: {"model/host_port.py", "model/remote_moves.py", "node/storage/drbd/command.py"},
            r"""['"]:['"] in \S*(host|address|ip|name)\b""": {"model/host_port.py", "model/ip_family.py"},
            r"AF_INET6 if ": {"model/ip_family.py"},
            r"gethostby|getfqdn|getaddrinfo": {"runtime/names.py"},
        }
        sources = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "test"]
        found = {
            rule: {str(path.relative_to(PACKAGE)) for path in sources if re.search(rule, path.read_text())}
            for rule in wanted
        }
        self.assertEqual(found, wanted)
