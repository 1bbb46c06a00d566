"""A mirror that is made on a node while a job still has to remove an old copy from there."""

from ganeti_tx.config.claims import MINOR, PORT
from ganeti_tx.model.disk import Disk
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.test.inprocess.mirrored_case import ADD
from ganeti_tx.test.inprocess.network import Trouble
from ganeti_tx.test.inprocess.test_replace_disks import ReplaceCase


class MinorTests(ReplaceCase):
    """web1 leaves node3, which takes as long as its disks are copied; web2 comes there meanwhile."""

    def test_new_secondary(self) -> None:
        """The end of the old copy is not that of the new mirror."""
        self.leaves("gnt-instance replace-disks --submit -n node4 web1")

    def test_failover(self) -> None:
        """The same where the whole instance goes."""
        self.leaves("gnt-instance failover --submit -f -n node4 --secondary-node node2 web1")

    def leaves(self, line: str) -> None:
        """Have it leave, and the other one come."""
        (old,) = self.cluster.config.disks.values()
        self.wire.rate = 5.0
        job = self.scene().submit(line)
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job), ["running"])
        self.wire.rate = 500.0
        comes = self.scene().submit(
            f"{ADD.replace('add', 'add --submit', 1).replace('node2:node3', 'node1:node3')} web2"
        )
        self.wire.rate = 5.0
        self.cluster.pass_time(2000)
        self.assertEqual(self.statuses(job, comes), ["success", "success"])
        (new,) = [disk for disk in self.cluster.config.disks.values() if disk.uuid != old.uuid]
        self.assertEqual(len(self.home(3).mirrors.up), 1)
        self.assertNotIn(new.minors[1], old.minors)
        self.assertIn("in sync, status ok", self.ok("gnt-instance info web2"))
        self.assert_agree()

    def test_killed(self) -> None:
        """Nobody gets what an old copy has while nobody has taken it down, although its job has died; then it is free."""
        for lost in (False, True):
            with self.subTest(lost_reservations=lost):
                self.killed_while_it_leaves(lost)

    def killed_while_it_leaves(self, lost: bool) -> None:
        """Its new place is recorded; the process dies while the old copy is taken down, and no luxid is there to have that
        done; WConfD starts anew, as on a node that was just made master if it has lost its list.
        """
        (old,) = self.cluster.config.disks.values()
        home, new = (4, 3) if lost else (3, 4)
        (uuid,) = [each.uuid for each in self.cluster.config.nodes.values() if each.name.startswith(f"node{home}")]

        def dies(node: str, call: NodeCall[object]) -> Trouble | None:
            if not isinstance(call, BlockdevShutdown) or not node.startswith(f"node{home}"):
                return None
            self.cluster.kill_luxid()
            for process in list(self.cluster.zygote.runners):
                self.cluster.zygote.kill(process)
            self.cluster.network.fault = None
            return Trouble.REFUSED

        self.cluster.network.fault = dies
        job = self.scene().submit(f"gnt-instance replace-disks --submit -n node{new} web1")
        self.cluster.pass_time(60)
        self.assertNotIn(uuid, next(iter(self.cluster.config.disks.values())).nodes)
        self.cluster.kill_wconfd()
        if lost:
            self.cluster.master.disk.remove(self.cluster.paths.temporary_reservations_file)
        self.cluster.start_wconfd()
        self.cluster.pass_time(10)
        for kind, scope, value in self.had(old, uuid):
            self.assertIn(value, self.cluster.wconfd.reservations.values(kind, scope))
        self.cluster.start_luxid()
        self.cluster.pass_time(400)
        self.assertEqual(self.statuses(job), ["error"])
        self.assertEqual(len(self.home(home).mirrors.up), 0)
        self.assertEqual(self.cluster.wconfd.reservations.owners(), set())
        self.assert_agree()

    def test_killed_at_the_record(self) -> None:
        """The process dies as soon as another node is recorded: at no moment is a mirror up with what somebody else could get."""
        for delay in (0.0, 0.002, 0.006):
            self.setUp()
            dying: list[object] = []

            def dies(*_: object, delay: float = delay, dying: list[object] = dying) -> None:
                if not dying:
                    dying.append(self.cluster.time.callLater(delay, self.kill_runners))

            self.cluster.wconfd.store.subscribe(dies)
            job = self.scene().submit("gnt-instance replace-disks --submit -n node4 web1")
            while not self.job(job).finalized:
                self.cluster.pass_time(0.004)
                self.assertEqual(self.up_and_free(), [], delay)
            self.assertEqual((len(dying), self.statuses(job)), (1, ["error"]))
            self.assert_agree()

    def kill_runners(self) -> None:
        """No process of a job lives."""
        for process in list(self.cluster.zygote.runners):
            self.cluster.zygote.kill(process)

    def up_and_free(self) -> list[tuple[str, int]]:
        """The minors of mirrors that are up on nodes, and neither configured there nor reserved."""
        cluster = self.cluster
        numbers = {cluster.node(number).name: number for number in self.numbers}
        configured = {minor for disk in cluster.config.disks.values() for minor in disk.minors}
        return [
            (node.name, minor)
            for uuid, node in cluster.config.nodes.items()
            for minor in self.home(numbers[node.name]).mirrors.up
            if (uuid, minor) not in configured and minor not in cluster.wconfd.reservations.values(MINOR, uuid)
        ]

    def had(self, disk: Disk, node: str) -> list[tuple[str, str, int]]:
        """What a disk had there: kind, scope, value."""
        minor = next(minor for each, minor in disk.minors if each == node)
        return [(MINOR, node, minor), *((PORT, "", port) for port in disk.ports)]
