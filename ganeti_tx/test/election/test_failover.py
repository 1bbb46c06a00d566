"""One node takes over from another: as it should go, refused, and broken off at every single step."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.election.failover import MARGIN
from ganeti_tx.election.votes import NoQuorum
from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.mastership.term import read_term
from ganeti_tx.mastership.this_node import NotMasterError
from ganeti_tx.model.config_data import encode
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status
from ganeti_tx.rpc.calls.master import NodeStartMasterDaemons
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.rpc.refusals import NotCandidate
from ganeti_tx.test.election.nodes import PATHS, SERIAL, ThreeNodes, three_nodes


class FailoverTests(SynchronousTestCase):
    """`gnt-cluster master-failover` on node2."""

    def setUp(self) -> None:
        """A cluster that is well."""
        self.cluster = ThreeNodes()
        self.node1, self.node2, self.node3 = self.cluster.nodes.values()

    def refused(self, error: type[Exception], vote: bool = True) -> str:
        """Why node2 does not become the master; nothing has changed then."""
        before = self.cluster.masters()
        with self.assertRaises(error) as caught:
            self.cluster.failover("node2", vote)
        self.assertEqual(self.cluster.masters(), before)
        self.assertEqual([node.master for node in self.cluster.nodes.values()], ["node1"] * 3)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)
        return str(caught.exception)

    def assert_master(self, name: str) -> None:
        """This node, and no other, is the master, by everybody's files."""
        reached = [node for node in self.cluster.nodes.values() if node.reachable]
        self.assertEqual({node.master for node in reached}, {name})
        self.assertEqual([node.name for node in reached if node.running], [name])
        self.assertEqual(self.cluster.possible_masters(), [name])

    def test_planned(self) -> None:
        """The old master is stopped and gives up the address; all follow the new one, with a newer configuration."""
        self.node1.has_address = True
        self.cluster.failover("node2")
        self.assert_master("node2")
        self.assertFalse(self.node1.has_address)
        configs = [node.config for node in self.cluster.nodes.values()]
        self.assertEqual([config.serial_no for config in configs], [SERIAL + MARGIN] * 3)
        self.assertEqual({config.cluster.master_node for config in configs}, {"uuid-node2"})
        self.assertEqual(configs[0].cluster.serial_no, three_nodes().cluster.serial_no + 1)

    def test_and_back(self) -> None:
        """It can be done again the other way."""
        self.cluster.failover("node2")
        self.cluster.failover("node1")
        self.assert_master("node1")

    def test_dead_master(self) -> None:
        """A dead master is done without, and said to be dead; when it is back it stays down, and follows."""
        self.node1.reachable = self.node1.running = False
        self.cluster.failover("node2")
        self.assert_master("node2")
        self.assertIn("taken for dead", self.cluster.said[0])
        self.node1.reachable = True
        self.assertFalse(self.node1.may_start())

    def test_no_candidate(self) -> None:
        """A node that is no candidate is refused; the text names the candidates."""
        for node in self.cluster.nodes.values():
            node.have(three_nodes(candidates=("node1", "node3")))
        self.node2.files.remove(PATHS.config_file)
        self.assertIn("one of node1, node3", self.refused(OpPrereqError))

    def test_already_master(self) -> None:
        """The master is not made the master."""
        self.cluster.failover("node2")
        with self.assertRaisesRegex(OpPrereqError, "is the master already"):
            self.cluster.failover("node2")

    def test_master_that_is_alone(self) -> None:
        """A master that runs and reaches nobody does not take the role over from itself, beside its own daemons."""
        self.node2.reachable = self.node3.reachable = False
        with self.assertRaises(OpPrereqError) as caught:
            self.cluster.failover("node1")
        self.assertIn("daemons of this node (node1) run", str(caught.exception))
        self.assertTrue(self.node1.running)
        self.assertEqual(self.node1.config.serial_no, SERIAL)

    def test_older_configuration(self) -> None:
        """A candidate that missed a change is refused, and told who has it."""
        self.node3.have(replace(three_nodes(), serial_no=SERIAL + 1))
        text = self.refused(NotMasterError)
        self.assertIn(f"node3 has configuration {SERIAL + 1}, this node only {SERIAL}", text)

    def test_fewer_jobs(self) -> None:
        """So is one that does not know the newest job."""
        self.node2.put(PATHS.queue_serial_file, b"4\n")
        self.node3.put(PATHS.queue_serial_file, b"7\n")
        self.assertIn("node3 knows job 7, this node only 4", self.refused(NotMasterError))

    def test_no_quorum(self) -> None:
        """Alone among three it is refused, and told who is silent."""
        self.node1.reachable = self.node3.reachable = False
        text = self.refused(NoQuorum)
        self.assertIn("only 1 of 3", text)
        self.assertIn("node1 (no route), node3 (no route)", text)

    def test_without_votes(self) -> None:
        """Without voting it takes over alone; its data are newer than anybody's, even the newest known."""
        self.node1.reachable = self.node1.running = False
        self.node3.have(replace(three_nodes(), serial_no=SERIAL + 5))
        self.cluster.failover("node2", vote=False)
        self.assertEqual(self.node2.config.serial_no, SERIAL + 5 + MARGIN)
        self.assertEqual(self.cluster.masters(), ["node2"])
        self.assertEqual(self.node3.master, "node2")

    def test_outcast(self) -> None:
        """A node whose certificate the others refuse cannot even do it without votes: nobody would follow it."""

        def step(what: str) -> None:
            if what in ("master_vote on node1", "master_vote on node3"):
                text = f"node {what[-5:]} refused master_vote with HTTP status 403: only master candidates may call"
                raise NodeCallError(text, NotCandidate(text))

        self.cluster.step = step
        for vote in (True, False):
            self.assertIn("gnt-node modify", self.refused(NotMasterError, vote))

    def test_alone_without_votes(self) -> None:
        """It does so even when nobody else is there."""
        self.node1.reachable = self.node1.running = self.node3.reachable = False
        self.cluster.failover("node2", vote=False)
        self.assertEqual(self.cluster.masters(), ["node2"])

    def test_two_nodes_one_offline(self) -> None:
        """Nodes marked offline do not count and are sent nothing."""
        for node in self.cluster.nodes.values():
            node.have(three_nodes(offline=("node1", "node3")))
        steps: list[str] = []
        self.cluster.step = steps.append
        self.node1.running = False
        self.cluster.failover("node2")
        self.assertEqual(self.cluster.masters(), ["node2"])
        self.assertEqual([step for step in steps if "node1" in step or "node3" in step], [])

    def test_old_master_does_not_stop(self) -> None:
        """An old master that answers but goes on remains the master."""

        def step(what: str) -> None:
            if what == "node_stop_master on node1":
                raise NodeCallError("node node1: process 17 does not end")

        self.cluster.step = step
        self.assertIn("remains the master", self.refused(OpExecError))
        self.cluster.failover("node2", vote=False)
        self.assertIn("stop it by hand", self.cluster.said[0])

    def test_old_master_was_ahead(self) -> None:
        """What the old master wrote while it was being stopped is not lost: it goes on as the master."""

        def step(what: str) -> None:
            if what == "node_stop_master on node1":
                self.node1.have(replace(three_nodes(), serial_no=SERIAL + 1))

        self.cluster.step = step
        self.assertIn(f"node1 has configuration {SERIAL + 1}", self.refused(NotMasterError))

    def test_own_daemon(self) -> None:
        """The node daemon of the new master is needed."""

        def step(what: str) -> None:
            if what.endswith("on node2"):
                raise NodeUnreachableError("cannot reach node node2: its node daemon does not run")

        self.cluster.step = step
        self.assertIn("node daemon", self.refused(OpPrereqError))

    def test_two_at_once(self) -> None:
        """Of two candidates that take over at the same time one becomes the master."""
        entered: list[str] = []

        def step(what: str) -> None:
            if what.startswith("write_ssconf_files") and not entered:
                entered.append(what)
                self.cluster.failover("node3")

        self.cluster.step = step
        with self.assertRaises(OpExecError):
            self.cluster.failover("node2")
        self.assert_master("node3")

    def test_two_at_once_while_the_old_one_is_away(self) -> None:
        """The one that was too late leaves the old master, which comes back meanwhile, to the one that is the master."""
        self.node1.reachable = False
        entered: list[str] = []

        def step(what: str) -> None:
            if what.startswith("write_ssconf_files") and not entered:
                entered.append(what)
                self.cluster.failover("node3")
                self.node1.reachable = True

        self.cluster.step = step
        with self.assertRaises(OpExecError):
            self.cluster.failover("node2")
        self.assertEqual([node.master for node in self.cluster.nodes.values()], ["node1", "node3", "node3"])

    def test_own_daemon_ends_meanwhile(self) -> None:
        """Whatever the reason, an old master that was stopped in vain is started again."""
        asked: list[str] = []

        def step(what: str) -> None:
            if what == "master_vote on node2":
                asked.append(what)
                if len(asked) > 1:
                    raise NodeUnreachableError("it has just ended")

        self.cluster.step = step
        self.refused(OpPrereqError)

    def test_daemons_do_not_start(self) -> None:
        """The new configuration is known to be of the new term before anybody starts, and the command can be run again."""

        def step(what: str) -> None:
            if what.startswith(NodeStartMasterDaemons.name):
                raise NodeUnreachableError("too late")

        self.cluster.step = step
        with self.assertRaises(OpExecError):
            self.cluster.failover("node2")
        for node in (self.node2, self.node3):
            term = read_term(node.files, PATHS)
            assert term is not None
            self.assertEqual((term.master, term.config), ("node2", term.number))
        self.cluster.step = lambda what: None
        self.cluster.failover("node2")
        self.assert_master("node2")

    def test_old_one_is_back_after_the_claim(self) -> None:
        """What the old master sent between the claim and this node's own write is not written over."""
        newer = replace(three_nodes(), serial_no=SERIAL + MARGIN + 1)

        def step(what: str) -> None:
            if what.startswith("write job-"):
                self.node2.put(PATHS.config_file, encode(newer))

        self.node2.put_job(
            QueuedJob(id=1, ops=[QueuedOp(input={}, status=Status.RUNNING)], livelock="/x", process_id=1)
        )
        self.cluster.step = step
        with self.assertRaises(OpExecError) as caught:
            self.cluster.failover("node2")
        self.assertIn("another node has become the master meanwhile", str(caught.exception))
        self.assertEqual(self.node2.config, newer)


class JobTests(SynchronousTestCase):
    """What becomes of the jobs."""

    def setUp(self) -> None:
        """A cluster that is well."""
        self.cluster = ThreeNodes()
        self.node2 = self.cluster.nodes["node2"]

    def put(self, job_id: int, statuses: list[Status], livelock: str | None) -> None:
        """A job whose copy node2 has."""
        ops = [QueuedOp(input={"OP_ID": "OP_TEST_DELAY"}, status=status) for status in statuses]
        self.node2.put_job(QueuedJob(id=job_id, ops=ops, livelock=livelock, process_id=17 if livelock else None))

    def test_jobs(self) -> None:
        """Those in progress fail with the old master's name; those that no process had wait on; the rest stays."""
        self.put(1, [Status.SUCCESS], "/node1/livelocks/job_17_1.0")
        self.put(2, [Status.SUCCESS, Status.RUNNING, Status.QUEUED], "/node1/livelocks/job_17_1.0")
        self.put(3, [Status.WAITING], str(PATHS.livelock_dir / "job_18_1.0"))
        self.put(4, [Status.QUEUED], None)
        self.node2.put(PATHS.job_file(5), b"junk")
        self.cluster.failover("node2")
        self.assertEqual(
            [self.node2.job(job_id).status.value for job_id in (1, 2, 3, 4)], ["success", "error", "error", "queued"]
        )
        ops = self.node2.job(2).ops
        self.assertEqual([op.status.value for op in ops], ["success", "error", "error"])
        self.assertEqual(ops[1].result, ["OpExecError", ["master failed over from node1 while the job ran"]])
        self.assertIn("waiting for its locks", str(self.node2.job(3).ops[0].result))
        self.assertIsNotNone(self.node2.job(3).end_timestamp)
        self.flushLoggedErrors()

    def test_own_job(self) -> None:
        """A job of this node's own living process goes on, as when the command is run again."""
        livelock = PATHS.livelock_dir / "job_18_1.0"
        self.cluster.liveness.start(livelock)
        self.put(3, [Status.RUNNING], str(livelock))
        self.cluster.failover("node2")
        self.assertIs(self.node2.job(3).status, Status.RUNNING)
