"""Names into addresses for who may wait."""

import os
import socket
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ResolverError
from ganeti_tx.runtime.names import cluster_family, full_name, look_up, own_name, parse_hosts, resolve_now
from ganeti_tx.runtime.paths import Paths

HOSTS = "192.0.2.1 node1.example.com node1\n2001:DB8:0::1 node1.example.com node1\n2001:db8::6 node6\n"


class ResolveNowTests(SynchronousTestCase):
    """A node below a directory."""

    def setUp(self) -> None:
        """Its hosts file knows one node with addresses of both families."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.etc_hosts.parent.mkdir(parents=True)
        self.paths.etc_hosts.write_text(HOSTS)

    def join(self, family: str) -> None:
        """Become part of a cluster."""
        self.paths.data_dir.mkdir(parents=True, exist_ok=True)
        self.paths.ssconf_file("primary_ip_family").write_text(family)

    def test_family(self) -> None:
        """A name means its address in the family asked for, else in the cluster's, else the first."""
        self.assertEqual(resolve_now(self.paths, "node1")[1], "192.0.2.1")
        self.join("10\n")
        self.assertEqual(cluster_family(self.paths), socket.AF_INET6)
        self.assertEqual(resolve_now(self.paths, "NODE1"), ("node1.example.com", "2001:db8::1"))
        self.assertEqual(resolve_now(self.paths, "node1", socket.AF_INET)[1], "192.0.2.1")

    def test_none_of_the_family(self) -> None:
        """A name without an address of the family does not resolve, nor does an address of another; it says which."""
        self.join("2\n")
        for name, why in (("node6", "no IPv4 address is known"), ("2001:db8::9", "it is no IPv4 address")):
            error = self.assertRaises(ResolverError, resolve_now, self.paths, name)
            self.assertIn(f"cannot resolve {name!r}: {why}", str(error))

    def test_address(self) -> None:
        """An address is its own, in one form."""
        self.assertEqual(resolve_now(self.paths, "2001:DB8:0:0::9"), ("2001:DB8:0:0::9", "2001:db8::9"))

    def test_no_files(self) -> None:
        """Without a hosts file the system is asked."""
        os.unlink(self.paths.etc_hosts)
        self.assertEqual(resolve_now(self.paths, "localhost", socket.AF_INET)[1], "127.0.0.1")


class SystemTests(SynchronousTestCase):
    """What this machine says."""

    def test_real_system(self) -> None:
        """The system knows this machine, and refuses what is no name at all."""
        self.assertEqual(look_up("127.0.0.1")[1], "127.0.0.1")
        self.assertEqual(look_up("localhost", socket.AF_INET)[1], "127.0.0.1")
        self.assertRaises(ResolverError, look_up, "127.0.0.1", socket.AF_INET6)
        self.assertRaises(ResolverError, look_up, "a" * 64 + ".invalid")

    def test_hosts(self) -> None:
        """Lines without names, comments, and what begins with no address say nothing."""
        self.assertEqual(parse_hosts("# 192.0.2.1 node1\n\n192.0.2.3\nnode1 192.0.2.1\n"), {})

    def test_own_name(self) -> None:
        """The environment names this node; without it the system does, with its domain where it knows one."""
        self.assertEqual(own_name({"GANETI_HOSTNAME": "node1.example.com"}), "node1.example.com")
        self.assertEqual(own_name({}).partition(".")[0], socket.gethostname().partition(".")[0])
        self.assertEqual(full_name("nobody.invalid"), "nobody.invalid")
