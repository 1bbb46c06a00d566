"""`burnin` in a whole cluster: all of it, and what is left when it is disturbed."""

import json
from pathlib import Path
from typing import Any

from ganeti_tx.rpc.calls.backup import ScriptImportStart
from ganeti_tx.rpc.calls.instance import InstanceReboot
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.burnin_case import Burning
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrored_case import MirroredCase
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.verify_faults.of_instances import runs

NAMES = "web1 web2"
FILE = "-o noop -H fake -t file --disk-size 256m,128m --disk-growth 128m,0"
#: Steps that each template of these has not.
NOT_MIRRORED = {
    "Replacing disks on the same nodes",
    "Replacing the secondary node",
}
NOT_SHARED = {"Failing over", "Migrating"}
NO_DISKS = {
    "Growing disks",
    "Exporting and importing",
    "Reinstalling",
    "Adding and removing disks",
    "Activating and deactivating disks",
}
#: When the operator leaves: at which operation, how long after it was begun, and how it goes.
MOMENTS = (
    ("OP_INSTANCE_CREATE", 1, ""),
    ("OP_INSTANCE_CREATE", 2, "-p"),
    ("OP_INSTANCE_MOVE", 2, "-p"),
    ("OP_BACKUP_EXPORT", 2, ""),
    ("OP_BACKUP_EXPORT", 4, "-p"),
    ("OP_INSTANCE_RENAME", 3, ""),
)
NOT_ASKED_FOR = {"Renaming", "Asking the configuration daemons"}


class InterruptedClient(DrivingClient):
    """The operator leaves while the first job with some opcode is waited for, after so many waits."""

    def __init__(self, cluster: InProcessCluster, op_id: str, waits: int) -> None:
        super().__init__(cluster)
        self._op_id = op_id
        self.waits = waits
        self._job: int | None = None

    def call(self, method: str, args: list[Any]) -> Any:
        """As Client says. @raise KeyboardInterrupt: now."""
        if method == "WaitForJobChange" and args[0] == self._job:
            self.waits -= 1
            if self.waits == 0:
                raise KeyboardInterrupt
        answer = super().call(method, args)
        if method == "SubmitJob" and self._job is None and self._op_id in [op["OP_ID"] for op in args[0]]:
            self._job = answer
        return answer


def left_out(told: str) -> set[str]:
    """The titles of the steps that were not done."""
    return {line.removeprefix("- ").split(":")[0] for line in told.splitlines() if ": left out (" in line}


def exports(cluster: InProcessCluster) -> list[str]:
    """What there is in the nodes' directories of exports."""
    return [name for node in cluster.members for name in node.disk.names(cluster.paths.export_dir)]


class WholeTests(ClusterCase):
    """On three nodes with two instances."""

    def burn(self, line: str) -> str:
        """It passes, and nothing is left; what it told."""
        burning = Burning(self.cluster)
        status = burning(f"{line} {NAMES}")
        told = burning.out.getvalue() + burning.err.getvalue()
        self.assertEqual(status, 0, told)
        self.assert_nothing_left(self.cluster)
        return told

    def test_file(self) -> None:
        """One by one, with a name to rename to; each instance has been on more than one node."""
        told = self.burn(f"{FILE} --rename web3")
        expected = NOT_MIRRORED | NOT_SHARED | NOT_ASKED_FOR - {"Renaming"}
        self.assertEqual(left_out(told), expected)
        self.assertIn("  * web1.example.com: move from node1.example.com to node2.example.com\n", told)

    def test_file_together(self) -> None:
        """All at once."""
        self.assertEqual(left_out(self.burn(f"{FILE} -p")), NOT_MIRRORED | NOT_SHARED | NOT_ASKED_FOR)

    def test_diskless(self) -> None:
        """Without disks, one by one and all at once; the second comes upon nothing of the first."""
        for how in ("", "-p"):
            told = self.burn(f"-o noop -H fake -t diskless {how}")
            self.assertEqual(left_out(told), NOT_MIRRORED | NO_DISKS | NOT_ASKED_FOR | {"Moving"})

    def test_shared(self) -> None:
        """On storage that all nodes see."""
        told = self.burn("-o noop -H fake -t sharedfile -p --disk-size 128m")
        self.assertEqual(left_out(told), NOT_MIRRORED | NOT_ASKED_FOR | {"Moving"})

    def test_some_nodes(self) -> None:
        """Only on those that are named."""
        told = self.burn(f"{FILE} -n node3,node2")
        self.assertIn("on node3.example.com, node2.example.com\n", told)
        self.assertNotIn("node1.example.com", told)


class MirrorsTests(MirroredCase):
    """Upon mirrors."""

    def setUp(self) -> None:
        super().setUp()
        #: The kinds of requests that the allocator has got.
        self.asked: set[str] = set()

    def test_mirrors(self) -> None:
        """All there is for them, one by one and all at once."""
        for how in ("--early-release", "-p"):
            burning = Burning(self.cluster)
            status = burning(f"-o noop -H fake -t drbd --disk-size 128m --disk-growth 64m {how} {NAMES}")
            told = burning.out.getvalue() + burning.err.getvalue()
            self.assertEqual(status, 0, told)
            self.assertEqual(left_out(told), NOT_ASKED_FOR | {"Moving"})
            self.assertEqual(self.volumes(), [[], [], []])
            self.assertEqual((self.cluster.config.instances, self.cluster.running()), ({}, {}))

    def test_allocated(self) -> None:
        """An allocator says where all is that need not be somewhere."""
        master = self.cluster.master
        program = self.cluster.paths.iallocator_search_path[0] / "choose"
        put(master.disk, program, b"#!/bin/sh\n", 0o755)
        master.scripts.script([str(program)], self.choose)
        for template in ("drbd", "sharedfile"):
            burning = Burning(self.cluster)
            status = burning(f"-o noop -H fake -t {template} --disk-size 128m -I choose -p {NAMES}")
            self.assertEqual(status, 0, burning.out.getvalue() + burning.err.getvalue())
            self.assertEqual((self.cluster.config.instances, self.cluster.running()), ({}, {}))
        self.assertEqual(self.asked, {"allocate", "relocate"})

    def choose(self, call: Call) -> ProcessResult:
        """The last nodes that have nothing of an instance."""
        document = json.loads(self.cluster.master.disk.read(Path(call.argv[1]), 1 << 20))
        request = document["request"]
        self.asked.add(request["type"])
        there = document["instances"].get(request["name"], {"nodes": []})["nodes"]
        free = [name for name in sorted(document["nodes"], reverse=True) if name not in there]
        answer = {"success": True, "info": "", "result": free[: request["required_nodes"]]}
        return ProcessResult(stdout=json.dumps(answer).encode())


class DisturbedTests(ClusterCase):
    """It fails, or is interrupted."""

    def test_refused(self) -> None:
        """A node that cannot: the other instance is done, no further step is, and nothing is left."""
        self.cluster.network.fault = lambda node, call: (
            Says("the knob is stuck") if isinstance(call, InstanceReboot) and node == "node2.example.com" else None
        )
        burning = Burning(self.cluster)
        self.assertEqual(burning(f"{FILE} -p --no-move --no-importexport {NAMES}"), 1)
        self.assertIn("the knob is stuck", burning.err.getvalue())
        told = burning.out.getvalue()
        self.assertIn("- Rebooting\n", told)
        self.assertNotIn("- Adding and removing disks\n", told)
        self.assertTrue(told.endswith(" s\n") and "Burnin FAILED" in told, told)
        self.assert_nothing_left(self.cluster)

    def test_not_imported(self) -> None:
        """An instance that cannot be made of its export: both are gone, and so is the other instance."""
        self.cluster.network.fault = lambda node, call: (
            Says("no import today") if isinstance(call, ScriptImportStart) else None
        )
        burning = Burning(self.cluster)
        self.assertEqual(burning(f"{FILE} {NAMES}"), 1)
        self.assertIn("no import today", burning.err.getvalue())
        self.assertIn("  * web1.example.com: remove the export\n", burning.out.getvalue())
        self.assert_nothing_left(self.cluster)
        self.assertEqual(exports(self.cluster), [])

    def test_interrupted(self) -> None:
        """Whenever the operator leaves: jobs end, and nothing is left, no instance, no export, under no name."""
        for op_id, waits, how in MOMENTS:
            cluster = self.new_cluster()
            burning, client = Burning(cluster), InterruptedClient(cluster, op_id, waits)
            status = burning(f"{FILE} --rename web3 {how} {NAMES}", client)
            moment = f"{op_id} {waits} {how}: {burning.out.getvalue()}{burning.err.getvalue()}"
            self.assertEqual(status, 1, moment)
            self.assertEqual(burning.err.getvalue().count("Interrupted\n"), 1, moment)
            self.assertNotIn("Failed", burning.err.getvalue(), moment)
            self.assert_nothing_left(cluster)
            self.assertEqual(exports(cluster), [], moment)
            cluster.end()

    def test_export_of_another(self) -> None:
        """What somebody makes meanwhile under a name that begins alike is there afterwards."""
        other = "web1.corp.example.com"
        disk = self.cluster.members[2].disk
        client = DrivingClient(self.cluster)
        call = client.call

        def exporting(method: str, args: list[Any]) -> Any:
            if method == "SubmitJob" and args[0][0]["OP_ID"] == "OP_BACKUP_EXPORT":
                put(disk, self.cluster.paths.export_dir / other / "config.ini", b"[export]\nversion = 0\n")
            return call(method, args)

        client.call = exporting  # type: ignore[method-assign]
        burning = Burning(self.cluster)
        self.assertEqual(burning(f"{FILE} --no-move web1", client), 0, burning.err.getvalue())
        self.assertEqual(exports(self.cluster), [other])
        self.assertIn("import from", burning.out.getvalue())

    def test_orphans(self) -> None:
        """What somebody else has left is told of by verify, and is not ours; what appears meanwhile is."""
        runs(self.cluster, 2, "ghost.example.com")
        burning = Burning(self.cluster)
        self.assertEqual(burning(f"-o noop -H fake -t diskless {NAMES}"), 0)
        client = DrivingClient(self.cluster)
        call = client.call

        def haunted(method: str, args: list[Any]) -> Any:
            if method == "SubmitJob" and args[0][0]["OP_ID"] == "OP_INSTANCE_REMOVE":
                runs(self.cluster, 3, "wraith.example.com")
            return call(method, args)

        client.call = haunted  # type: ignore[method-assign]
        self.assertEqual(burning(f"-o noop -H fake -t diskless {NAMES}", client), 1)
        self.assertRegex(burning.err.getvalue(), "something is left: ERROR:ENODEORPHANINSTANCE:.*wraith.example.com")
        self.assertNotIn("ghost", burning.err.getvalue())
