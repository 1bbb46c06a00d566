"""A creation that fails half-way leaves nothing, whatever fails; node calls that do are in test_each_call."""

import errno
import os
from pathlib import Path

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.rpc.calls.instance import InstanceOsAdd, InstanceStart
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.network import Fault, Says, Trouble

ADD = "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -n node2 web1"
NAME = "web1.example.com"
SAYS = Says("no, not today")


def is_of_the_job(call: NodeCall[object]) -> bool:
    """Whether a call is one of the logical unit's, and no copy of a job file."""
    return not isinstance(call, JobqueueUpdate)


def fail_kind(kind: type[NodeCall[object]], trouble: Trouble | Says) -> Fault:
    """Trouble for every call of a kind."""
    return lambda node, call: trouble if isinstance(call, kind) else None


class UndoTests(ClusterCase):
    """Failures of nodes, of disks and of the configuration's own disk."""

    def test_disk_full_on_the_node(self) -> None:
        """When the second disk finds no room, the first is removed."""
        self.cluster.node(2).files_storage.total = 1 << 20

        def full(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevCreate) and call.disk.index == 1:
                self.cluster.node(2).disk_full()

        self.cluster.network.fault = full
        self.fails(ADD, "disk/1.*MiB free")
        self.assert_nothing_left(self.cluster)

    def test_no_room_is_seen_before(self) -> None:
        """A disk for which there is no room is refused before anything is made."""
        self.cluster.node(2).files_storage.total = 1000
        self.fails(ADD, "not enough room")
        self.assertNotIn("blockdev_create", [each.call.name for each in self.cluster.network.sent])

    def fail_writes_of_config(self, after: int) -> None:
        """After so many writes of config.data, the master's disk is full."""
        writes = iter(range(1_000_000))

        def fault(operation: str, path: Path) -> OSError | None:
            if path != self.cluster.paths.config_file or operation != "write_atomic" or next(writes) < after:
                return None
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        self.cluster.master.disk.fault = fault

    def test_configuration_cannot_be_written(self) -> None:
        """When the instance cannot be put into the configuration, its disks are removed."""
        self.fail_writes_of_config(0)
        self.fails(ADD, "No space left")
        self.cluster.master.disk.fault = None
        self.assert_nothing_left(self.cluster)

    def test_state_cannot_be_written(self) -> None:
        """When it cannot be marked as running and the disk has room again, it is stopped and stays."""
        self.fail_writes_of_config(1)
        inner = self.cluster.master.disk.fault
        assert inner is not None
        failed: list[Path] = []

        def once(operation: str, path: Path) -> OSError | None:
            error = None if failed else inner(operation, path)
            if error is not None:
                failed.append(path)
            return error

        self.cluster.master.disk.fault = once
        self.fails(ADD, "No space left")
        self.assertEqual((len(failed), self.cluster.running()), (1, {}))
        self.ok("gnt-instance startup web1")

    def test_node_daemon_is_back(self) -> None:
        """When its node daemon dies and is started again, all is taken back although nothing answered at first."""

        def dies(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, InstanceOsAdd):
                self.cluster.node(2).stop()
                self.cluster.time.callLater(5.0, self.cluster.node(2).start)

        self.cluster.network.fault = dies
        status, out, _ = self.scene().run(ADD.split())
        self.assertEqual(status, 1)
        self.assertNotIn("could not undo", out)
        self.assert_nothing_left(self.cluster)

    def test_what_cannot_be_undone_is_told(self) -> None:
        """When the node goes away for good, the error says why and a warning names each step that was not undone."""

        def gone(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, InstanceOsAdd):
                self.cluster.node(2).stop()

        self.cluster.network.fault = gone
        status, out, err = self.scene().run(ADD.split())
        self.assertEqual(status, 1)
        self.assertRegex(out, r"could not undo \d steps \(.*remove disk/1 of instance.*remove disk/0 of instance")
        self.assertIn("node2.example.com", err)
        self.assertEqual(dict(self.cluster.config.instances), {})
        self.assert_nothing_held(self.cluster)

    def test_what_may_run_stays_configured(self) -> None:
        """An instance of which nobody can tell whether it runs stays as it is, and can be removed from there."""
        started = False

        def fault(node: str, call: NodeCall[object]) -> Trouble | None:
            nonlocal started
            was_started, started = started, started or isinstance(call, InstanceStart)
            return Trouble.REFUSED if was_started and is_of_the_job(call) else Trouble.BROKEN if started else None

        self.cluster.network.fault = fault
        status, out, _ = self.scene().run(ADD.split())
        self.assertEqual(status, 1)
        self.assertIn("see 'gnt-instance info web1.example.com'", out)
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.cluster.network.fault = None
        self.ok("gnt-instance remove -f web1")
        self.assert_nothing_left(self.cluster)

    def test_canceled_while_it_installs(self) -> None:
        """A job that is killed while the OS is being installed frees its name, its locks and its reservations."""
        job_id = self.scene().submit(ADD.replace("add", "add --submit", 1))
        self.cluster.pass_time(3)
        self.assertEqual(self.statuses(job_id), ["running"])
        self.ok(f"gnt-job cancel --kill --yes-do-it {job_id}")
        self.cluster.pass_time(20)
        self.assertEqual(self.statuses(job_id), ["canceled"])
        self.assert_nothing_held(self.cluster)

    def test_start_fails(self) -> None:
        """An instance that cannot be started stays, installed and marked as down, and the error says what to do."""
        self.cluster.network.fault = fail_kind(InstanceStart, SAYS)
        self.fails(ADD, "could not start instance web1.example.com: .*not today; .* 'gnt-instance startup web1.exam")
        self.assert_nothing_held(self.cluster)
        self.assertEqual(disagreements(self.cluster), [])
        self.assertIn("ADMIN_down", self.ok("gnt-instance list --no-headers -o status"))
        self.cluster.network.fault = None
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
