"""All steps of a merge in their order; whichever fails before a node is added, all is as before."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.merging.choices import Choices, SameGroup
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge.access import Access
from ganeti_tx.merge.checks import check_configurations
from ganeti_tx.merge.cluster import ClusterMerge
from ganeti_tx.merge.options import MergeOptions, Restart
from ganeti_tx.merge.other import decoded
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.merging.clusters import OURS
from ganeti_tx.test.merge.clusters import RUNNING, FakeOther, FakeOwn, Log, State, as_bytes

OPTIONS = MergeOptions(groups=SameGroup.MERGE)
HOSTS = "192.0.2.13 node3.example.com\n192.0.2.14 node4.example.com\n"
ORDER = [
    "check",
    "node3 spread",
    "node3 look",
    "node4 look",
    "pause",
    "node3 pause",
    "node3 in-service",
    "node3 stop-instances",
    "node3 drain",
    "node3 halt",
    "node4 halt",
    "node3 tell",
    "drain",
    "join",
    "gnt-node add --readd node3.example.com",
    "gnt-node add --readd node4.example.com",
    "gnt-cluster redist-conf",
    "node3 settle",
    "node4 settle",
    "pause",
    "node3 expel",
    "node4 expel",
    "start",
    "gnt-cluster verify",
]
#: From here on there is no way back.
FIRST_NODE = ORDER.index("gnt-node add --readd node3.example.com")


class MergeCase(SynchronousTestCase):
    """One other cluster, which runs an instance."""

    def setUp(self) -> None:
        self.log = Log()
        paths = Paths(Path(self.mktemp()).absolute())
        (paths.root / "etc").mkdir(parents=True)
        paths.etc_hosts.write_text(HOSTS)
        self.directory = paths.root / "merge"
        self.directory.mkdir()
        (self.directory / "id_ed25519.pub").write_text("ssh-ed25519 AAAA root@node1\n")
        self.own = FakeOwn(paths, self.log)
        self.state = State()
        self.said: list[str] = []

    def contact(self, address: str, access: Access, is_ours: Any) -> FakeOther:
        """What the other cluster tells."""
        told = self.state.told()
        return FakeOther(address, access, told, decoded(address, told), log=self.log, state=self.state)

    def merge(self, options: MergeOptions = OPTIONS, failing: Collection[str] = ()) -> bool:
        """Whether all went well."""
        self.log.done.clear()
        self.log.failing = set(failing)
        access = Access(self.own.paths, self.directory)
        own: Any = self.own
        run = ClusterMerge(own, access, options, self.said.append, self.said.append, self.contact)
        return run.run(["other.example.com"])


class OrderTests(MergeCase):
    """When all goes well."""

    def test_order(self) -> None:
        """Every step is done, and once; what was up runs again, and the clusters are one."""
        self.assertTrue(self.merge())
        self.assertEqual(self.log.done, ORDER)
        self.assertEqual(self.own.started, {RUNNING})
        self.assertEqual(len([line for line in self.said if line.startswith("Warning: ")]), 1)
        self.assertEqual([node.name for node in self.own.held.nodes.values() if node.offline], [])
        self.assertEqual((self.state.let_in, self.own.pause_end, self.own.drained), (set(), None, False))

    def test_restart(self) -> None:
        """None, or all, are started when that was said."""
        self.assertTrue(self.merge(evolve(OPTIONS, restart=Restart.NONE)))
        self.assertEqual(self.own.started, set())
        self.setUp()
        self.state.running = set()
        self.assertTrue(self.merge(evolve(OPTIONS, restart=Restart.ALL)))
        self.assertEqual(self.own.started, {RUNNING})

    def test_not_stopped(self) -> None:
        """Instances run on when that was said; here one has a port that is ours, so nothing is done."""
        with self.assertRaisesRegex(BootstrapError, "TCP port 11000 of instance web2.example.com"):
            self.merge(evolve(OPTIONS, skip_stop_instances=True))
        self.assertEqual(self.state, State())
        self.assertNotIn("pause", self.log.done)


class FailureTests(MergeCase):
    """When something does not."""

    def test_each_step(self) -> None:
        """Whichever fails before the first node is added, both clusters are as they were, and it can be said again."""
        for failing in ORDER[1 : FIRST_NODE + 1]:
            with self.assertRaises(GanetiError, msg=failing):
                self.merge(failing={failing})
            seen = (as_bytes(self.own.held), self.own.drained, self.own.pause_end, self.own.started)
            self.assertEqual((failing, seen), (failing, (as_bytes(OURS), False, None, set())))
            stopped = self.state.stopped
            self.assertEqual((failing, self.state), (failing, State(stopped=stopped)))
        self.assertTrue(self.merge())

    def test_later_node(self) -> None:
        """Once a node is added there is no way back: the rest goes on, and what is missing is said."""
        self.assertFalse(self.merge(failing={"gnt-node add --readd node4.example.com"}))
        self.assertEqual(self.log.done, ORDER)
        self.assertIn("'gnt-node add --readd node4.example.com' adds it", self.said[-1])
        self.assertEqual([node.name for node in self.own.held.nodes.values() if node.offline], ["node4.example.com"])

    def test_undo_fails(self) -> None:
        """What cannot be taken back is said, and the rest is."""
        with self.assertRaises(GanetiError):
            self.merge(failing={"join", "node4 restore"})
        self.assertTrue(any("node4 restore does not work" in line and "says it again" in line for line in self.said))
        self.assertEqual((self.state.halted, self.state.let_in), ({"node4.example.com"}, set()))
        self.assertEqual(as_bytes(self.own.held), as_bytes(OURS))

    def test_lost(self) -> None:
        """A node that is not there in the end is told of."""
        self.own.lost = {"node4.example.com"}
        self.assertFalse(self.merge())
        self.assertIn("Failed: node node4.example.com is not there any more", self.said)


class CheckTests(MergeCase):
    """What is found out before anything is done, all at once."""

    def test_all_at_once(self) -> None:
        """Names that do not resolve and other versions; groups of the same name."""
        self.own.paths.etc_hosts.write_text("192.0.2.99 node3.example.com\n192.0.2.14 node4.example.com\n")
        with self.assertRaisesRegex(
            BootstrapError, "node3.example.com is 192.0.2.13 there, but resolves to 192.0.2.99"
        ):
            self.merge()
        self.own.paths.etc_hosts.write_text(HOSTS)
        with self.assertRaisesRegex(BootstrapError, "other.example.com: node group default is in both clusters"):
            self.merge(MergeOptions())
        self.own.drained = self.state.drained = True
        with self.assertRaisesRegex(BootstrapError, "this cluster's job queue is drained(.|\n)*the job queue of other"):
            self.merge()
        self.assertEqual(self.state, State(drained=True))

    def test_several(self) -> None:
        """Clusters that are merged at a time must not clash with each other either."""
        one = self.contact("other.example.com", Access(self.own.paths, self.directory), None)
        choices = Choices(groups=OPTIONS.groups)
        self.assertEqual(len(check_configurations(OURS, [one], choices, will_stop=True)), 1)  # its job filter
        with self.assertRaisesRegex(BootstrapError, "node name node3.example.com is in both clusters"):
            check_configurations(OURS, [one, one], choices, will_stop=True)


class RecoveryTests(MergeCase):
    """A merge was killed."""

    def test_again(self) -> None:
        """What it has left is taken back first, then the clusters are merged."""
        other = self.contact("other.example.com", Access(self.own.paths, self.directory), None)
        self.state.running, self.state.stopped = set(), (RUNNING,)
        self.state.halted = {node.name for node in other.nodes}
        other.ask_again()
        self.own.join(other.config, Choices(groups=OPTIONS.groups))
        self.assertTrue(self.merge())
        self.assertEqual(self.log.done[2:5], ["part", "node4 restore", "node3 restore"])
        self.assertEqual(self.own.started, {RUNNING})

    def test_in_service(self) -> None:
        """One of whose nodes is in service here is refused, whatever else is left."""
        self.assertTrue(self.merge())
        with self.assertRaisesRegex(
            BootstrapError, "node3.example.com, node4.example.com is in service in this cluster"
        ):
            self.merge()
