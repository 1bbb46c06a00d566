"""Roles of nodes in a whole cluster: who has what, who is sent what, and what late messages do."""

from twisted.internet.defer import Deferred
from twisted.logger import LogLevel, capturedLogs

from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.network import Sent, perform


class RolesTests(ClusterCase):
    """Three candidates, and a fourth node to come."""

    def ssconf(self, number: int, key: str) -> list[str]:
        """The lines of a node's simple configuration."""
        disk = self.cluster.node(number).disk
        return disk.read(self.cluster.paths.ssconf_file(key), 1 << 20).decode().splitlines()

    def config_of(self, number: int) -> bytes | None:
        """A node's copy of the configuration."""
        disk, path = self.cluster.node(number).disk, self.cluster.paths.config_file
        return disk.read(path, 1 << 24) if disk.exists(path) else None

    def queue_of(self, number: int) -> dict[str, bytes]:
        """The live part of a node's copy of the queue."""
        disk, directory = self.cluster.node(number).disk, self.cluster.paths.queue_dir
        names = [name for name in disk.listdir(directory) if name != "archive"]
        return {name: disk.read(directory / name, 1 << 20) for name in names}

    def candidates(self) -> list[str]:
        """The short names of the master candidates, as the cluster lists them."""
        text = self.ok("gnt-node list --no-headers -o name,role")
        return [line.split()[0].partition(".")[0] for line in text.splitlines() if line.split()[1] in "MC"]

    def sent_to(self, number: int, since: int) -> list[Sent]:
        """The calls that went out to a node."""
        name = self.cluster.node(number).name
        return [sent for sent in self.cluster.network.sent[since:] if sent.node == name]

    def test_offline_is_sent_nothing(self) -> None:
        """Whatever goes on, not one packet goes to an offline node, and nothing waits for it."""
        text = self.ok("gnt-node modify -O yes node3")
        self.assertEqual(text.splitlines()[-3:], [
            "Modified node node3", " - master_candidate -> False", " - offline -> True",
        ])  # fmt: skip
        since = len(self.cluster.network.sent)
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        began = self.cluster.time.seconds()
        for line in (
            "gnt-cluster add-tags one", "gnt-node list -o name,mfree,bootid", "gnt-cluster redist-conf",
            "gnt-cluster verify", "gnt-os diagnose", "gnt-cluster queue drain", "gnt-cluster queue undrain",
            "gnt-job archive 1", "gnt-cluster modify --max-running-jobs 7",
        ):  # fmt: skip
            self.ok(line)
        self.assertLess(self.cluster.time.seconds() - began, 30)
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.cluster.pass_time(3600)
        self.assertEqual(self.sent_to(3, since), [])

    def test_pool(self) -> None:
        """The pool is kept: a candidate that goes is replaced at once, with all that a candidate has."""
        key = self.cluster.paths.authority_key
        self.cluster.run(self.cluster.master.disk.write_atomic(key, b"key"))
        self.ok("gnt-cluster modify -C 2")
        self.ok("gnt-cluster redist-conf")
        self.assertTrue(self.cluster.node(3).disk.exists(key))
        self.ok("gnt-node modify -C no node3")
        self.cluster.pass_time(10)
        self.assertEqual((self.candidates(), self.config_of(3), self.queue_of(3)), (["node1", "node2"], None, {}))
        self.assertFalse(self.cluster.node(3).disk.exists(key))
        self.fails("gnt-node modify -O yes node2", "--auto-promote")
        text = self.ok("gnt-node modify -O yes --auto-promote node2")
        self.assertIn("Promoted nodes to master candidate role: node3.example.com", text)
        self.cluster.pass_time(10)
        self.assertEqual(self.candidates(), ["node1", "node3"])
        for number in (1, 3):
            self.assertEqual(self.ssconf(number, "master_candidates"), ["node1.example.com", "node3.example.com"])
            self.assertEqual(len(self.ssconf(number, "master_candidates_certs")), 2)
            self.assertEqual(self.ssconf(number, "offline_nodes"), ["node2.example.com"])
        self.assertEqual(self.config_of(3), self.config_of(1))
        self.assertEqual(self.queue_of(3), self.queue_of(1))
        self.assertTrue(self.cluster.node(3).disk.exists(key))

    def test_back_online(self) -> None:
        """A node that comes back takes its place when there is room, and forgets what it had when there is none."""
        self.ok("gnt-node modify -O yes node3")
        self.ok("gnt-cluster modify -C 2")
        self.assertIsNotNone(self.config_of(3))
        self.ok("gnt-node modify -O no node3")
        self.cluster.pass_time(10)
        self.assertEqual((self.candidates(), self.config_of(3), self.queue_of(3)), (["node1", "node2"], None, {}))
        self.assertEqual(self.ssconf(3, "master_candidates"), ["node1.example.com", "node2.example.com"])
        self.assertIn("master candidate role: node3", self.ok("gnt-cluster modify -C 3"))
        self.cluster.pass_time(10)
        self.assertEqual(self.config_of(3), self.config_of(1))

    def test_removed(self) -> None:
        """A candidate that leaves the cluster is replaced."""
        self.ok("gnt-cluster modify -C 2")
        self.ok("gnt-node modify -C no node3")
        self.assertIn("master candidate role: node3", self.ok("gnt-node remove node2"))
        self.assertEqual(self.candidates(), ["node1", "node3"])

    def test_added(self) -> None:
        """A node that is added becomes a candidate while there is room; verification finds all well then."""
        self.ok("gnt-node add node4")
        self.cluster.pass_time(10)
        self.assertEqual(self.candidates(), ["node1", "node2", "node3", "node4"])
        self.assertEqual(self.config_of(4), self.config_of(1))
        self.ok("gnt-cluster verify")

    def test_candidate_that_was_away(self) -> None:
        """A candidate that was cut off has the newest configuration soon after, and few words are made of it."""
        node3 = self.cluster.node(3)
        with capturedLogs() as logged:
            self.cluster.network.cut_off.add(node3.address)
            for number in range(5):
                self.ok(f"gnt-cluster add-tags tag{number}")
                self.cluster.pass_time(600)
            self.cluster.network.cut_off.clear()
            self.cluster.pass_time(340)  # the longest pause, and the rest of a call that was under way
        self.assertEqual(self.config_of(3), self.config_of(1))
        self.assertEqual(self.ssconf(3, "cluster_tags"), [f"tag{number}" for number in range(5)])
        words = [event for event in logged if node3.name in (event.get("node"), event.get("name"))]
        self.assertEqual([event for event in logged if event["log_level"] >= LogLevel.error], [])
        self.assertLessEqual(len(words), 10, "two of wconfd, two of luxid, one of each job's process")

    def test_redistribution(self) -> None:
        """redist-conf repairs what somebody has spoiled on a node, key files too; verification shows the difference."""
        node3, paths = self.cluster.node(3), self.cluster.paths
        self.cluster.pass_time(10)
        for path in (paths.ssconf_file("master_node"), paths.config_file):
            self.cluster.run(node3.disk.write_atomic(path, b'{"serial_no": 0}'))
        self.cluster.run(self.cluster.master.disk.write_atomic(paths.hmac_key, b"secret"))
        self.fails("gnt-cluster verify", "")
        self.ok("gnt-cluster redist-conf")
        self.assertEqual(self.config_of(3), self.config_of(1))
        self.assertEqual(node3.disk.read(paths.hmac_key, 99), b"secret")
        self.ok("gnt-cluster verify")

    def test_everything_again_backwards(self) -> None:
        """When all that a candidate was ever sent comes once more, in the opposite order, nothing is older than before."""
        for tag in ("one", "two", "three"):
            self.ok(f"gnt-cluster add-tags {tag}")
        self.ok("gnt-job archive 1")
        self.cluster.pass_time(10)
        before = self.config_of(3), self.queue_of(3), self.ssconf(3, "cluster_tags")
        daemon = self.cluster.network.daemons[self.cluster.node(3).address]
        again = [sent.call for sent in self.sent_to(3, 0) if getattr(sent.call, "stamp", None) is not None]
        self.assertGreater(len(again), 10)
        for call in reversed(again):
            again_sent = perform(daemon.dispatch, type(call).name, encode_call(call), self.cluster.node(1).name)
            self.cluster.run(Deferred.fromCoroutine(again_sent))
        self.assertEqual((self.config_of(3), self.queue_of(3), self.ssconf(3, "cluster_tags")), before)
