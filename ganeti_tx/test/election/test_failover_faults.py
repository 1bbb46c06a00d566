"""Failovers that meet faults of nodes and of this node's own disk."""

from collections.abc import Callable

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.election.failover import MARGIN
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.config_data import encode
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.calls.master import NodeStartMasterDaemons
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.election.nodes import PATHS, Killed, ThreeNodes


class FaultTests(SynchronousTestCase):
    """The command is killed, or a node fails, at each step in turn."""

    def steps_of(self, prepare: Callable[[ThreeNodes], None]) -> list[str]:
        """The steps of a failover that goes well."""
        cluster = ThreeNodes()
        prepare(cluster)
        steps: list[str] = []
        cluster.step = steps.append
        cluster.failover("node2")
        self.assertGreater(len(steps), 8)
        return steps

    def broken_at(self, number: int, error: BaseException, prepare: Callable[[ThreeNodes], None]) -> ThreeNodes:
        """A cluster in which the failover met an error at a step."""
        cluster = ThreeNodes()
        prepare(cluster)
        count = 0

        def step(what: str) -> None:
            nonlocal count
            count += 1
            if count == number:
                raise error

        cluster.step = step
        try:
            cluster.failover("node2")
        except (Killed, GanetiError):
            pass
        cluster.step = lambda what: None
        return cluster

    def check(self, cluster: ThreeNodes, where: str) -> None:
        """There are never two masters, there is a way on, and the command can be run again."""
        self.assertLessEqual(len(cluster.masters()), 1, where)
        possible = cluster.possible_masters()
        self.assertLessEqual(len(possible), 1, where)
        self.assertEqual([name for name in cluster.masters() if name not in possible], [], where)
        if cluster.masters() != ["node2"]:
            cluster.failover("node2")
        self.assertEqual(cluster.masters(), ["node2"], where)
        self.assertEqual(cluster.possible_masters(), ["node2"], where)
        self.assertEqual(cluster.nodes["node2"].config.cluster.master_node, "uuid-node2", where)

    def every_step(self, error: BaseException, prepare: Callable[[ThreeNodes], None]) -> None:
        """Fail at each."""
        for number, what in enumerate(self.steps_of(prepare), 1):
            self.check(self.broken_at(number, error, prepare), f"{error!r} at step {number}: {what}")

    def well(self, cluster: ThreeNodes) -> None:
        """The old master is well."""

    def dead(self, cluster: ThreeNodes) -> None:
        """The old master is dead."""
        cluster.nodes["node1"].reachable = cluster.nodes["node1"].running = False

    def test_killed(self) -> None:
        """At any step: either the old master can go on, or the new one can, never both."""
        self.every_step(Killed(), self.well)
        self.every_step(Killed(), self.dead)

    def test_unreachable(self) -> None:
        """The same when a node cannot be reached at that step."""
        self.every_step(NodeUnreachableError("cannot reach it"), self.well)
        self.every_step(NodeUnreachableError("cannot reach it"), self.dead)

    def test_full_disk(self) -> None:
        """The same when the disk refuses."""
        for number, what in enumerate(self.steps_of(self.well), 1):
            if what.startswith("write "):
                self.check(self.broken_at(number, OSError(28, "No space left", "config.data"), self.well), what)

    def test_old_master_goes_on(self) -> None:
        """Killed before the claim, the old master starts again, works, and keeps its work in the next attempt."""
        steps = self.steps_of(self.well)
        claim = next(number for number, what in enumerate(steps, 1) if what.startswith("write_ssconf_files"))
        for number in (claim, claim + 1):
            cluster = self.broken_at(number, Killed(), self.well)
            self.assertEqual(cluster.possible_masters(), ["node1"], steps[number - 1])
            self.work_on(cluster)
            worked = cluster.nodes["node1"].config.serial_no
            self.assertEqual([node.master for node in cluster.nodes.values()], ["node1"] * 3)
            cluster.failover("node2")
            self.assertEqual(cluster.nodes["node2"].config.serial_no, worked + MARGIN)
            self.assertEqual(cluster.possible_masters(), ["node2"])

    def work_on(self, cluster: ThreeNodes) -> None:
        """node1 starts, changes its configuration, and brings it to the others as WConfD does."""
        node1 = cluster.nodes["node1"]
        cluster.finish(node1.start(NodeStartMasterDaemons(no_voting=False)))
        changed = replace(node1.config, serial_no=node1.config.serial_no + 3)
        node1.have(changed)
        for node in list(changed.nodes.values())[1:]:
            upload = UploadFile(path=str(PATHS.config_file), data=encode(changed), serial=changed.serial_no)
            cluster.finish(cluster.master_rpc("node1").call(node, upload))
            ssconf = WriteSsconfFiles(values=ssconf_values(changed), serial=changed.serial_no)
            cluster.finish(cluster.master_rpc("node1").call(node, ssconf))
