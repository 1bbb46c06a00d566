"""Distribution: to whom, in what order, what when nodes fail, and who is told."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.logger import LogLevel, capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.mastership.term import read_term
from ganeti_tx.model.config_data import decode
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.node_certificates import server_key
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.model.samples import INSTANCE, NODE2
from ganeti_tx.test.wconfd.protocol.loopback import MASTER, Cluster
from ganeti_tx.wconfd.distribute import TIMEOUT

PLAIN = replace(
    NODE2, uuid="n3", name="node3", primary_ip="192.0.2.13", secondary_ip="192.0.2.13", master_candidate=False
)
OFFLINE = replace(PLAIN, uuid="n4", name="node4", primary_ip="192.0.2.14", secondary_ip="192.0.2.14", offline=True)
FOUR = replace(CONFIG, nodes={**CONFIG.nodes, "n3": PLAIN, "n4": OFFLINE})


class DistributeTests(SynchronousTestCase):
    """Four nodes: the master, a candidate, a plain one, one that is offline."""

    def setUp(self) -> None:
        self.cluster = Cluster(FOUR)
        self.rpc = self.cluster.rpc
        self.wconfd = self.cluster.start()
        self.config = self.wconfd.config(self.cluster.job(1))
        self.cluster.settle()

    def change(self) -> None:
        """A change that ssconf does not show."""
        state = self.wconfd.store.snapshot.instances[INSTANCE.uuid].admin_state
        wanted = AdminState.DOWN if state is AdminState.UP else AdminState.UP
        self.successResultOf(
            self.cluster.begin(self.config.set_instance_state(INSTANCE.uuid, wanted, AdminStateSource.ADMIN, True))
        )

    def tag(self, tag: str) -> None:
        """A change that ssconf shows."""
        self.successResultOf(self.cluster.begin(self.config.change_tags(TagKind.CLUSTER, None, [tag], [])))

    def waiting(self) -> "Deferred[Any]":
        """Begin to wait for the distribution."""
        return self.cluster.begin(self.config.when_distributed())

    def test_start(self) -> None:
        """At the start every node gets ssconf and each candidate the configuration; this node's files are written."""
        sent = self.rpc.names()
        self.assertEqual(
            sorted(sent),
            [
                ("node2.example.com", "upload_file"),
                ("node2.example.com", "write_ssconf_files"),
                ("node3", "write_ssconf_files"),
            ],
        )
        path = self.cluster.paths.ssconf_file("master_node")
        self.assertEqual(self.cluster.files.read(path, 99), f"{MASTER}\n".encode())

    def test_only_what_changed(self) -> None:
        """A change that ssconf does not show goes to the candidates alone."""
        self.rpc.names()
        self.change()
        [(name, call)] = self.rpc.calls
        self.assertEqual(name, "node2.example.com")
        assert isinstance(call, UploadFile)
        self.assertEqual((call.path, call.serial), ("/var/lib/ganeti/config.data", 2))
        self.assertEqual(decode(call.data), self.wconfd.store.snapshot)
        self.rpc.names()
        self.tag("new")
        self.assertEqual(len(self.rpc.names()), 3)

    def test_newest_wins(self) -> None:
        """A node that is busy gets one transfer at a time, and next whatever is newest then."""
        self.rpc.names()
        self.rpc.held = []
        for _ in range(5):
            self.change()
        self.assertEqual(len(self.rpc.calls), 1)
        waiting = self.waiting()
        self.rpc.held[0].callback(None)
        self.assertEqual([call.serial for _, call in self.rpc.calls], [2, 6])
        self.assertNoResult(waiting)
        self.rpc.held[1].callback(None)
        self.successResultOf(waiting)
        self.assertEqual(len(self.rpc.calls), 2)

    def test_does_not_hold_up(self) -> None:
        """A change is made while nodes are slow."""
        self.rpc.held = []
        self.tag("one")
        self.tag("two")
        self.assertNoResult(self.waiting())
        self.assertIn("two", self.wconfd.store.snapshot.cluster.tags)

    def test_unreachable(self) -> None:
        """A node that fails is tried again, later and later, and does not hold up those who wait."""
        self.rpc.down = {"node2.example.com"}
        self.rpc.names()
        self.change()
        self.assertEqual(len(self.rpc.names()), 1)
        self.successResultOf(self.waiting())
        self.cluster.advance(5)
        self.assertEqual(len(self.rpc.names()), 1)
        self.cluster.advance(9)
        self.assertEqual(self.rpc.names(), [])
        self.rpc.down = set()
        self.cluster.advance(2)
        self.assertEqual([call for _, call in self.rpc.names()], ["upload_file", "write_ssconf_files"])
        self.cluster.advance(1000)
        self.assertEqual(self.rpc.names(), [])

    def test_no_answer(self) -> None:
        """A node that does not answer is waited for only so long, and not again until it does."""
        self.rpc.held = []
        self.change()
        waiting = self.waiting()
        self.cluster.advance(TIMEOUT - 0.1)
        self.assertNoResult(waiting)
        self.cluster.advance(0.1)
        self.successResultOf(waiting)
        self.change()
        self.successResultOf(self.waiting())
        self.rpc.held[0].callback(None)
        self.assertNoResult(self.waiting())
        self.rpc.held[1].callback(None)
        self.successResultOf(self.waiting())

    def test_no_answer_and_a_request_to_all(self) -> None:
        """Who asks for everything anew waits for all nodes once more."""
        self.rpc.held = []
        self.change()
        waiting = self.waiting()
        self.cluster.advance(TIMEOUT)
        self.successResultOf(waiting)
        self.wconfd.distributor.redistribute()
        waiting = self.waiting()
        self.assertNoResult(waiting)
        self.cluster.advance(TIMEOUT)
        self.successResultOf(waiting)

    def test_new_state_tries_at_once(self) -> None:
        """A new state does not wait for the next try of the old one."""
        self.rpc.down = {"node2.example.com"}
        self.change()
        self.rpc.down = set()
        self.rpc.names()
        self.change()
        self.assertEqual(len(self.rpc.names()), 2)
        self.cluster.advance(1000)
        self.assertEqual(self.rpc.names(), [])

    def test_nodes_come_and_go(self) -> None:
        """A node that comes back online is served, one that goes offline is left alone."""
        self.rpc.names()
        node4 = self.wconfd.store.snapshot.nodes["n4"]
        self.successResultOf(self.cluster.begin(self.config.update_node(replace(node4, offline=False))))
        self.assertIn(("node4", "write_ssconf_files"), self.rpc.names())
        node3 = self.wconfd.store.snapshot.nodes["n3"]
        self.successResultOf(self.cluster.begin(self.config.update_node(replace(node3, offline=True))))
        self.assertNotIn("node3", [name for name, _ in self.rpc.names()])
        self.successResultOf(self.waiting())

    def test_redistribute(self) -> None:
        """Everything goes out once more, also to a node that is being served; who waits, waits for that."""
        self.rpc.names()
        self.rpc.held = []
        self.change()
        self.successResultOf(self.cluster.begin(self.config.redistribute()))
        waiting = self.waiting()
        while self.rpc.held:
            self.assertNoResult(waiting)
            self.rpc.held.pop(0).callback(None)
        self.successResultOf(waiting)
        self.assertEqual(
            sorted(self.rpc.names()),
            [
                ("node2.example.com", "upload_file"),
                ("node2.example.com", "upload_file"),
                ("node2.example.com", "write_ssconf_files"),
                ("node3", "write_ssconf_files"),
            ],
        )

    def test_keys(self) -> None:
        """Who becomes a candidate gets the keys that are here, the authority's too; others get none by themselves."""
        paths = self.cluster.paths
        for path in (paths.hmac_key, paths.authority_key):
            self.successResultOf(Deferred.fromCoroutine(self.cluster.files.write_atomic(path, b"key")))
        self.rpc.names()
        node3 = self.wconfd.store.snapshot.nodes["n3"]
        promoted = replace(node3, master_candidate=True)
        self.successResultOf(self.cluster.begin(self.config.change_nodes([promoted], {"n3": "digest"})))
        sent = {call.path for name, call in self.rpc.calls if name == "node3" and isinstance(call, UploadFile)}
        self.assertEqual(sent, {str(paths.config_file), str(paths.hmac_key), str(paths.authority_key)})
        self.assertFalse(
            [name for name, call in self.rpc.calls if name != "node3" and "key" in getattr(call, "path", "")]
        )

    def test_set_up_anew(self) -> None:
        """A node with another certificate was set up anew: it gets all that it should have, though it had that once."""
        paths = self.cluster.paths
        for path in (paths.hmac_key, paths.authority_key):
            self.successResultOf(Deferred.fromCoroutine(self.cluster.files.write_atomic(path, b"key")))
        for uuid, wanted in (
            (NODE2.uuid, {str(paths.hmac_key), str(paths.authority_key)}),
            ("n3", {str(paths.hmac_key)}),
        ):
            self.rpc.names()
            for known in ("of the first time", "of the second time"):
                node = self.wconfd.store.snapshot.nodes[uuid]
                change = self.config.change_nodes([node], {server_key(uuid): known})
                self.successResultOf(self.cluster.begin(change))
                calls = [call for name, call in self.rpc.calls if name == node.name]
                sent = {call.path for call in calls if isinstance(call, UploadFile)} - {str(paths.config_file)}
                self.assertEqual(sent, wanted, known)
                self.assertIn("write_ssconf_files", [call for name, call in self.rpc.names() if name == node.name])

    def test_stamped(self) -> None:
        """Each transfer says from which master and term it is, and which serial number it has."""
        self.rpc.names()
        self.tag("new")
        term = read_term(self.cluster.files, self.cluster.paths)
        assert term is not None
        for _, call in self.rpc.calls:
            self.assertEqual((call.stamp.master, call.stamp.term), (MASTER, term.number))
            self.assertEqual(call.serial, self.wconfd.store.snapshot.serial_no)

    def test_said_once(self) -> None:
        """A node that fails is told of when it begins and when it ends; that most candidates do is an error, once."""
        with capturedLogs() as logged:
            self.rpc.down = {"node2.example.com"}
            self.change()
            self.cluster.advance(1000)
            self.change()
            self.rpc.down = set()
            self.cluster.advance(1000)
        events = [event for event in logged if "configuration" in (event.get("log_format") or "")]
        levels = [event["log_level"] for event in events]
        self.assertEqual(levels, [LogLevel.info, LogLevel.error, LogLevel.info, LogLevel.info])

    def test_stop(self) -> None:
        """What is under way is broken off when WConfD ends."""
        self.rpc.names()
        self.rpc.held = []
        self.tag("one")
        self.assertEqual(len(self.rpc.names()), 2)
        self.wconfd.distributor.stop()
        self.wconfd.owners.stop()
        self.wconfd.rapi_files.stop()
        self.tag("two")
        self.assertEqual(self.rpc.names(), [])
        self.assertEqual(self.cluster.clock.getDelayedCalls(), [])
