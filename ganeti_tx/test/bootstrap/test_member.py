"""How a node takes back that it joined; no daemon ever ran here."""

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.join_documents import JoinDocument, LeaveDocument, to_bytes
from ganeti_tx.bootstrap.member import check_network, leave, with_own_address
from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.runtime.paths import Paths


class LeaveTests(SynchronousTestCase):
    """In a directory of its own."""

    def setUp(self) -> None:
        """A node with the keys of a cluster."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.paths.run_dir.mkdir(parents=True)
        self.paths.authority_pem.write_bytes(b"ours")
        self.paths.server_pem.write_bytes(b"key")

    def leave(self, authority: bytes) -> str:
        """What the node says when a cluster tells it to."""
        said = io.StringIO()
        with redirect_stdout(said):
            leave(self.paths, to_bytes(LeaveDocument(node_name="node2", authority=authority)))
        return said.getvalue()

    def test_not_added(self) -> None:
        """The keys go; a second time there is nothing to do."""
        self.assertIn("its keys were removed", self.leave(b"ours"))
        self.assertFalse(self.paths.server_pem.exists())
        self.assertIn("nothing was left", self.leave(b"ours"))
        self.assertEqual([*self.paths.run_dir.iterdir()], [])

    def test_another_cluster(self) -> None:
        """A node that has become another cluster's refuses."""
        with self.assertRaisesRegex(BootstrapError, "another cluster's"):
            self.leave(b"theirs")
        self.assertTrue(self.paths.server_pem.exists())


def joining(**changes: Any) -> JoinDocument:
    """What node2 is told when it joins a cluster with IPv6."""
    told: dict[str, Any] = {
        "cluster_name": "c",
        "node_name": "node2",
        "primary_ip": "2001:db8::12",
        "secondary_ip": None,
        "ssconf": {},
    }
    keys = {"authority": b"", "server": b"", "client": b"", "shared": {}}
    return JoinDocument(**{**told, **keys, "force_join": False, "readd": False, **changes})


class NetworkTests(SynchronousTestCase):
    """The addresses of a node that joins."""

    def refused(self, **changes: Any) -> str:
        """Why this machine, which has no such primary address, does not join."""
        caught = self.assertRaises(BootstrapError, check_network, Paths(Path("/")), joining(**changes), Problems())
        return str(caught)

    def test_secondary(self) -> None:
        """It needs an IPv4 secondary address, and one that is its own; a node that is known has one already."""
        self.assertIn("node node2: a cluster with IPv6 primary addresses needs an IPv4 secondary", self.refused())
        self.assertIn("2001:db8::13 is an IPv6 address", self.refused(secondary_ip="2001:db8::13"))
        self.assertIn("192.0.2.250 is not an address of", self.refused(secondary_ip="192.0.2.250", readd=True))
        self.assertNotIn("secondary", self.refused(readd=True))
        self.assertNotIn("secondary", self.refused(secondary_ip="127.0.0.1"))


class OwnAddressTests(SynchronousTestCase):
    """Where the daemons of a node listen that joins: the cluster does not list it yet."""

    def test_listed(self) -> None:
        """The node's address is in what it is told, once, also when the cluster knows it under another one."""
        for before in ("node1 2001:db8::11\n", "node1 2001:db8::11\nnode2 2001:db8::99\n"):
            document = joining(
                secondary_ip="198.51.100.12", ssconf={"node_primary_ips": before, "primary_ip_family": "10\n"}
            )
            told = with_own_address(document)
            self.assertEqual(told["node_primary_ips"], "node1 2001:db8::11\nnode2 2001:db8::12\n")
            self.assertEqual(told["primary_ip_family"], "10\n")
