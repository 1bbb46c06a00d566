"""Failovers that do not get through, or that get in each other's way: the cluster has one master again, by itself."""

from errno import ENOSPC
from pathlib import Path
from random import Random

from ganeti_tx.election.role import BROKEN_OFF_AFTER
from ganeti_tx.errors import OpExecError
from ganeti_tx.mastership.ballot import ssconf_master
from ganeti_tx.mastership.term import read_term
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.cluster import WriteSsconfFiles
from ganeti_tx.rpc.calls.master import MasterVote, NodeStopMaster
from ganeti_tx.test.inprocess.case import delay
from ganeti_tx.test.inprocess.failover_case import TAG, FailoverCase
from ganeti_tx.test.inprocess.master_service import failover
from ganeti_tx.test.inprocess.network import Trouble, Wrong


class BrokenClaimTests(FailoverCase):
    """node1 is cut off from node2 and works on; node2 claims the role, and only its own node daemon takes the claim."""

    def claim_in_vain(self, answers: Trouble) -> None:
        """node2's failover ends with an error, since others do not take the claim; then all reach each other again."""
        self.cluster.pass_time(5)
        address = self.cluster.master.address
        self.cluster.network.silent.add(address)

        def fault(node: str, call: NodeCall[object]) -> Wrong | None:
            if not isinstance(call, WriteSsconfFiles):
                return None
            return answers if node == "node2.example.com" else Trouble.REFUSED

        self.cluster.network.fault = fault
        self.assertRaises(OpExecError, self.fail_over, 2)
        self.cluster.network.fault = None
        self.cluster.network.silent.discard(address)

    def check(self) -> None:
        """node2 follows itself until node1 sends it something; then it is won back, with its copies, for good."""
        self.assertEqual(ssconf_master(self.cluster.node(2).disk, self.cluster.paths), "node2.example.com")
        job_id = self.luxi().submit_job([delay(0.0)])
        self.cluster.pass_time(4 * BROKEN_OFF_AFTER)
        self.assert_master(1)
        disk, path = self.cluster.node(2).disk, self.cluster.paths.job_file(job_id)
        self.assertEqual(disk.content(path), self.cluster.master.disk.content(path))
        terms = [read_term(node.disk, self.cluster.paths) for node in self.cluster.members]
        self.assertEqual(
            len({term and (term.number, term.config, term.ssconf, term.queue) for term in terms}), 1, terms
        )
        self.fail_over(2)
        self.cluster.pass_time(60)
        self.assertEqual(self.masters(), ["node2"])

    def test_own_node_only(self) -> None:
        """The claim is taken by the claimant alone."""
        self.claim_in_vain(Trouble.BROKEN)
        self.check()

    def test_all_refuse(self) -> None:
        """It is the same when its own node daemon takes the claim and its answer is lost."""
        self.claim_in_vain(Trouble.ANSWER_LOST)
        self.check()

    def test_noted_but_not_taken(self) -> None:
        """A node that has heard of the claim, and could not write it, is won back, also when the claimant is gone."""
        self.cluster.pass_time(5)
        address, third = self.cluster.master.address, self.cluster.node(3)
        self.cluster.network.silent.add(address)

        def full(operation: str, path: Path) -> OSError | None:
            return (
                OSError(ENOSPC, "No space left on device", str(path))
                if operation.startswith("write") and "ssconf_" in path.name
                else None
            )

        third.disk.fault = full
        self.assertRaises(OpExecError, self.fail_over, 2)
        third.disk.fault = None
        self.cluster.lose_power(self.cluster.node(2), Random(0))
        self.cluster.network.silent.discard(address)
        job_id = self.luxi().submit_job([delay(0.0)])
        self.cluster.pass_time(4 * BROKEN_OFF_AFTER)
        path = self.cluster.paths.job_file(job_id)
        self.assertEqual(third.disk.content(path), self.cluster.master.disk.content(path))
        self.cluster.node(2).boot()
        self.cluster.pass_time(400)
        self.assert_master(1)

    def test_later_claim_goes_on(self) -> None:
        """While a failover may be under way nobody is won back: the claimant can still get through."""
        self.claim_in_vain(Trouble.BROKEN)
        self.luxi().submit_job([delay(0.0)])
        self.cluster.pass_time(BROKEN_OFF_AFTER / 2)
        self.assertEqual(ssconf_master(self.cluster.node(2).disk, self.cluster.paths), "node2.example.com")


class OvertakenTests(FailoverCase):
    """node1 is cut off, and somebody comes between the votes for its successor and the claim."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster.pass_time(5)
        self.address = self.cluster.master.address
        self.cluster.network.silent.add(self.address)

    def test_slow_candidate(self) -> None:
        """A candidate that is slow finds out before its claim that there is a new master, and leaves it its work."""
        slow = self.cluster.daemons["node3.example.com"]
        ends = failover(slow, lambda line: None)
        while not any(isinstance(sent.call, NodeStopMaster) for sent in self.cluster.network.sent):
            self.cluster.time.step()
        slow.commands[-1].stall(60.0)
        self.fail_over(2)
        job_id = self.luxi().submit_job([delay(0.0)])
        self.cluster.pass_time(90)
        self.assertIn("another node has become the master", str(self.failureResultOf(ends, OpExecError).value))
        self.cluster.network.silent.clear()
        self.cluster.pass_time(400)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assert_master(2)

    def test_old_one_is_back_for_the_claim(self) -> None:
        """What it has done alone since does not keep its successor, whom it follows by the claim, from the role."""
        luxi = self.luxi()
        for _ in range(3):
            luxi.submit_job([TAG])
        self.cluster.pass_time(30)

        def fault(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, WriteSsconfFiles) and node == "node2.example.com":
                self.cluster.network.silent.discard(self.address)

        self.cluster.network.fault = fault
        self.fail_over(2)
        self.cluster.pass_time(400)
        self.assert_master(2)
        names = [{*node.disk.names(self.cluster.paths.queue_dir)} - {"lost+found"} for node in self.cluster.members]
        self.assertEqual(names, names[:1] * 3)

    def test_its_successor_dies(self) -> None:
        """Nor does it keep another candidate from the role when its successor has died before it was reached again."""
        luxi = self.luxi()
        for _ in range(3):
            luxi.submit_job([TAG])
        self.cluster.pass_time(30)
        self.fail_over(2)
        self.cluster.pass_time(30)
        self.cluster.lose_power(self.cluster.node(2), Random(0))
        self.cluster.network.silent.discard(self.address)
        self.fail_over(3)
        self.cluster.node(2).boot()
        self.cluster.pass_time(400)
        self.assert_master(3)


class BackAtWorkTests(FailoverCase):
    """A master that has lost power is back while another node asks for votes."""

    def test_before_the_claim(self) -> None:
        """The claim is not made by votes from before it was back, so that what it does is not lost."""
        self.cluster.pass_time(5)
        old = self.cluster.acting
        self.cluster.lose_power(old.node, Random(0))
        ends = failover(self.cluster.daemons["node3.example.com"], lambda line: None)
        while self.asked(old.node.name) < 2:
            self.cluster.time.step()
        old.node.boot()
        self.cluster.run(old.start_wconfd_later())
        self.cluster.run(old.start_luxid_later())
        job_id = self.luxi().submit_job([TAG])
        self.cluster.pass_time(60)
        self.assertIn("is at work; run the command again", str(self.failureResultOf(ends, OpExecError).value))
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assert_master(1)

    def asked(self, name: str) -> int:
        """How often the candidate has asked a node for its vote."""
        votes = [sent for sent in self.cluster.network.sent if isinstance(sent.call, MasterVote)]
        return sum(sent.node == name and sent.caller == "failover" for sent in votes)


class HalfAMasterTests(FailoverCase):
    """Of the master daemons only WConfD runs, as after a start that was broken off."""

    def test_run_again(self) -> None:
        """The command, run again, starts what is missing, and says that the node is the master only when it is."""
        self.cluster.pass_time(5)
        self.cluster.kill_luxid()
        self.assertIn("node1.example.com is the master now", self.fail_over(1))
        self.assert_master(1)
