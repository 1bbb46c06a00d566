"""gnt-instance move in a whole cluster."""

import errno
from pathlib import Path

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.calls.transfer import ExportStart, ImpexpStatus, ImportStart
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.network import Says

ADD = "gnt-instance add -t file --disk 0:size=128M --disk 1:size=64M -o noop --ignore-ipolicy -n node2 web1"
NAME = "web1.example.com"


class MoveTests(ClusterCase):
    """An instance with two disks."""

    def made(self, options: str = "") -> None:
        """It is on node2, and there is something on its first disk."""
        self.ok(ADD.replace("web1", f"{options} web1"))
        for path, disk in self.cluster.node(2).files_storage.disks.items():
            disk.content = f"what was written to {path[-1]}"

    def contents(self, number: int) -> list[str]:
        """What is on the disks of a node."""
        disks = self.cluster.node(number).files_storage.disks
        return [disks[path].content for path in sorted(disks)]

    def test_running(self) -> None:
        """It runs on the other node in the end, with its data, and leaves nothing."""
        self.made()
        told = self.ok("gnt-instance move -f -n node3 web1")
        self.assertEqual(
            [line.split(" ", 5)[-1] for line in told.splitlines()],
            [
                f" - INFO: Shutting down instance {NAME} on source node node2.example.com",
                "Exporting disk/0 from node2.example.com to node3.example.com",
                "Exporting disk/1 from node2.example.com to node3.example.com",
                "disk/0 is now listening, starting export",
                "disk/1 is now listening, starting export",
                "disk/0 is receiving data on node3.example.com",
                "disk/1 is receiving data on node3.example.com",
                "disk/0 is sending data on node2.example.com",
                "disk/1 is sending data on node2.example.com",
                "disk/1 finished receiving data",
                "disk/1 finished sending data",
                "disk/0 finished receiving data",
                "disk/0 finished sending data",
                " - INFO: Removing the disks on the original node",
                f" - INFO: Starting instance {NAME} on node node3.example.com",
            ],
        )
        self.assertEqual(self.contents(3), ["what was written to 0", "what was written to 1"])
        self.assertEqual(self.contents(2), [])
        self.assertEqual(self.cluster.running(), {"node3.example.com": [NAME]})
        self.assertEqual(disagreements(self.cluster), [])
        self.assertEqual([node.transfers.ends for node in self.cluster.members], [{}, {}, {}])

    def test_stopped(self) -> None:
        """One that is down stays so."""
        self.made("--no-start")
        told = self.ok("gnt-instance move -f -n node3 web1")
        self.assertIn("Not checking memory on the secondary node as instance will not be started", told)
        self.assertEqual((self.cluster.running(), disagreements(self.cluster)), ({}, []))
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.cluster.running(), {"node3.example.com": [NAME]})

    def test_without_disks(self) -> None:
        """There is nothing to copy."""
        self.ok("gnt-instance add -t diskless -o noop --no-install -n node2 web1")
        self.assertNotIn("Exporting", self.ok("gnt-instance move -f -n node3 web1"))
        self.assertEqual(self.ok("gnt-instance list --no-headers -o pnode").strip(), "node3.example.com")

    def test_refused(self) -> None:
        """What cannot be is told before anything is done."""
        self.made()
        self.ok("gnt-instance add -t sharedfile -s 1G -o noop -n node2 web2")
        before = self.cluster.config
        for line, reason in (
            ("-n node2 web1", f"wrong_state.*\n.*Instance {NAME} is already on the node node2.example.com"),
            ("-n nosuch web1", "unknown_entity.*\n.*nosuch"),
            ("-n node3 nosuch", "unknown_entity.*\n.*nosuch"),
            ("-n node3 --compress=arj web1", "wrong_input.*\n.*'arj'; allowed are none, gzip"),
            ("-n node3 web2", "wrong_state.*\n.*disk type sharedfile and is not suitable for copying"),
            ("web1", "no node is given"),
        ):
            self.fails(f"gnt-instance move -f {line}", reason)
        self.cluster.node(3).files_storage.total = 100
        self.fails("gnt-instance move -f -n node3 web1", "insufficient_resources|not enough room")
        self.assertIs(self.cluster.config, before)
        self.ok("gnt-node modify -O yes node3")
        self.fails("gnt-instance move -f -n node3 web1", "wrong_state.*\n.*offline node: node3.example.com")

    def test_receiver_dies(self) -> None:
        """It runs where it was, and nothing is left on the other node."""
        self.made()

        def kill(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, ExportStart):
                self._kill(3)

        self.cluster.network.fault = kill
        self.fails(
            "gnt-instance move -f -n node3 web1",
            "could not copy disk/0 of instance .*: node node3.example.com: its process has died",
        )
        self.cluster.network.fault = None
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual(disagreements(self.cluster), [])
        self.assertEqual(self.contents(2), ["what was written to 0", "what was written to 1"])

    def test_node_daemon_restarts(self) -> None:
        """The copies do not need the node daemons: one that is back soon finds them as they are."""
        self.made()
        looked: list[str] = []

        def restart(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, ImpexpStatus) and not looked:
                looked.append(node)
                self.cluster.node(3).stop()
                self.cluster.time.callLater(5.0, self.cluster.node(3).start)

        self.cluster.network.fault = restart
        self.ok("gnt-instance move -f -n node3 web1")
        self.assertEqual(looked, ["node3.example.com"])
        self.assertEqual(self.contents(3), ["what was written to 0", "what was written to 1"])
        self.assertEqual((self.contents(2), disagreements(self.cluster)), ([], []))

    def test_cannot_be_started(self) -> None:
        """One that is moved and could not be started: what to do is said."""
        self.made()

        def refuse(node: str, call: NodeCall[object]) -> Says | None:
            return Says("not today") if isinstance(call, InstanceStart) and node.startswith("node3") else None

        self.cluster.network.fault = refuse
        self.fails("gnt-instance move -f -n node3 web1", f"not today.*'gnt-instance startup {NAME}' starts it")
        self.cluster.network.fault = None
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.cluster.running(), {"node3.example.com": [NAME]})

    def test_full_disk(self) -> None:
        """So when the job's file cannot be written before the start."""
        self.made()
        removed: list[str] = []

        def watch(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevRemove):
                removed.append(node)

        def full(operation: str, path: Path) -> OSError | None:
            full_up = len(removed) == 2 and path.name.startswith("job-")
            return OSError(errno.ENOSPC, "No space left on device", str(path)) if full_up else None

        self.cluster.network.fault = watch
        self.cluster.master.disk.fault = full
        job_id = self.scene().submit("gnt-instance move --submit -f -n node3 web1")
        self.cluster.pass_time(60)
        self.cluster.master.disk.fault = None
        self.cluster.pass_time(60)
        result = str(self.job(job_id).ops[0].result)
        self.assertIn("a step was not begun", result)
        self.assertIn(f"gnt-instance startup {NAME}", result)

    def test_receiver_is_gone(self) -> None:
        """What the new node still has of the copies when it comes back is named by verification, and no other node's disks."""
        self.made("--no-start")

        def gone(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, ExportStart):
                self.cluster.node(3).stop()

        self.cluster.network.fault = gone
        self.fails("gnt-instance move -f -n node3 web1", "could not copy disk/1 of instance")
        self.cluster.network.fault = None
        self.cluster.node(3).start()
        left = [path.removeprefix("loop/") for path in sorted(self.cluster.node(3).files_storage.disks)]
        told = [line.partition("WARNING: ")[2] for line in self.ok("gnt-cluster verify").splitlines()]
        self.assertEqual(len(left), 2)
        self.assertEqual(
            sorted(line for line in told if "is unknown" in line),
            [f"node node3.example.com: volume {path} is unknown" for path in left],
        )

    def _kill(self, number: int) -> None:
        """The processes that receive are killed."""
        for end in self.cluster.node(number).transfers.ends.values():
            end.finish(-9, "its process has died")

    def test_canceled(self) -> None:
        """So it is when the job is stopped while it copies."""
        self.made()
        job_id = self.scene().submit("gnt-instance move --submit -f -n node3 web1")
        while not any(isinstance(each.call, ExportStart) for each in self.cluster.network.sent):
            self.cluster.pass_time(0.01)
        self.ok(f"gnt-job cancel --kill --yes-do-it {job_id}")
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job_id), ["canceled"])
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual(disagreements(self.cluster), [])
        self.assertEqual([node.transfers.ends for node in self.cluster.members], [{}, {}, {}])

    def test_secrets(self) -> None:
        """What shows an end that it is the right one stands in no job file."""
        self.made()
        self.ok("gnt-instance move -f -n node3 web1")
        magics = [each.call.magic for each in self.cluster.network.sent if isinstance(each.call, ImportStart)]
        self.assertEqual(len(set(magics)), 2)
        for node in self.cluster.members:
            for magic in magics:
                self.assertEqual(list(node.disk.find(magic.encode())), [])
