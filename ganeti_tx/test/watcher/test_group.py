"""One node group's run."""

from typing import Any

from ganeti_tx.errors import JobQueueDrainError
from ganeti_tx.test.watcher.watched import NAME, OTHER, WatchedCase
from ganeti_tx.watcher.decisions import EXPIRY, MAX_TRIES
from ganeti_tx.watcher.group import GroupRun
from ganeti_tx.watcher.state import load

UUID = "0a1b"
RUNNING = ["web1", "running", "up", []]
MIRRORED = ["db1", "running", "up", [OTHER]]
DOWN = ["web2", "ERROR_down", "up", []]
BOOTS = [[NAME, "boot1"], [OTHER, "boot2"]]


def restarts(jobs: list[dict[str, Any]]) -> list[str]:
    """The instances that were started."""
    return [op["instance_name"] for op in jobs if op["OP_ID"] == "OP_INSTANCE_STARTUP"]


class GroupRunTests(WatchedCase):
    """What is submitted, remembered and told."""

    def setUp(self) -> None:
        """Two nodes that were seen in the same boots before."""
        super().setUp()
        self.client = self.watched.client
        self.client.results["OP_GROUP_VERIFY_DISKS"] = [{}, [], {}]
        self.client.answers["QueryClusterInfo"] = lambda: {"volume_group_name": None}
        self.watched.tell("node", BOOTS)
        self.look([])
        self.client.jobs.clear()

    def look(self, instances: list[list[Any]], *, disks: bool = False) -> list[dict[str, Any]]:
        """One run over some instances; the opcodes that it has submitted."""
        before = len(self.client.submitted)
        self.watched.tell("instance", instances)
        GroupRun(self.watched.node, self.client, UUID, disks).run()
        return self.client.submitted[before:]

    def wait(self, *_args: Any) -> Any:
        """For a job that goes on."""
        self.watched.time += 60
        return [["running"], []]

    def test_started(self) -> None:
        """An instance that should run and does not is started; one that runs, is meant to be down, or whose node cannot be
        asked is left alone.
        """
        others = [
            ["a", "ADMIN_down", "down", []],
            ["b", "ERROR_nodedown", "up", []],
            ["c", "ERROR_nodeoffline", "up", []],
            ["d", "ERROR_wrongnode", "up", []],
            ["e", "ERROR_up", "down", []],
            ["f", "ADMIN_offline", "offline", []],
            ["g", "USER_down", "down", []],
        ]
        self.assertEqual(restarts(self.look([RUNNING, DOWN, *others])), ["web2"])
        (reason,) = self.client.jobs[1][0]["reason"]
        self.assertEqual(reason[:2], ["gnt:watcher", "web2 is down and should run"])
        status = self.watched.paths.watcher_instance_status_file(UUID).read_text()
        self.assertEqual(status.splitlines()[0], "a ADMIN_down")
        self.assertIn("web2 ERROR_down\n", status)

    def test_tries(self) -> None:
        """It is started so often and no more, until it ran, or long after the last try."""
        for _ in range(MAX_TRIES):
            self.assertEqual(restarts(self.look([DOWN])), ["web2"])
        self.assertEqual(self.look([DOWN]), [])
        self.assertIn("instance web2 was started 5 times and is down; it is left alone", self.watched.lines[-1])
        self.watched.time += EXPIRY - 1
        self.assertEqual(self.look([DOWN]), [])
        self.watched.time += 1
        self.assertEqual(restarts(self.look([DOWN])), ["web2"])
        self.assertEqual(load(self.watched.paths.watcher_state_file(UUID)).instances["web2"].count, 1)
        self.look([["web2", "running", "up", []]])
        self.assertEqual(load(self.watched.paths.watcher_state_file(UUID)).instances, {})

    def test_state_lost(self) -> None:
        """Without the file, or with one that is no such, counting begins anew."""
        for _ in range(MAX_TRIES):
            self.look([DOWN])
        self.watched.paths.watcher_state_file(UUID).write_text("{")
        self.assertEqual(restarts(self.look([DOWN])), ["web2"])

    def test_job_under_way(self) -> None:
        """While the job of the last try waits, there is no second one."""
        self.look([DOWN])
        self.client.answers["QueryJobs"] = lambda ids, fields: [["waiting", None][: len(fields)] for _ in ids]
        self.client.answers["WaitForJobChange"] = self.wait
        self.assertEqual(self.look([DOWN]), [])
        del self.client.answers["QueryJobs"]
        self.assertEqual(restarts(self.look([DOWN])), ["web2"])

    def test_long_job(self) -> None:
        """A job is not waited for without end."""
        self.client.answers["QueryJobs"] = lambda ids, fields: [["running", None]]
        self.client.answers["WaitForJobChange"] = self.wait
        self.look([DOWN])
        self.assertIn("job 1 goes on", self.watched.lines[-1])

    def test_drained(self) -> None:
        """What a drained queue refuses is told, counts as no try, and is no failure of the run."""

        def refuse(*_args: Any) -> Any:
            raise JobQueueDrainError("Job queue is drained, refusing job")

        self.client.answers["SubmitJob"] = refuse
        node = self.watched.node
        self.watched.tell("instance", [DOWN])
        GroupRun(node, self.client, UUID).run()
        self.assertEqual(node.log.failures, 0)
        self.assertIn("not submitted: Job queue is drained", self.watched.lines[-1])
        self.assertEqual(load(self.watched.paths.watcher_state_file(UUID)).instances, {})

    def test_drained_at_boot(self) -> None:
        """Disks that were to be activated after a node's boot are, as soon as the queue takes jobs again."""

        def refuse(*_args: Any) -> Any:
            raise JobQueueDrainError("Job queue is drained, refusing job")

        self.watched.tell("node", [[NAME, "boot1"], [OTHER, "boot3"]])
        self.client.answers["SubmitJob"] = refuse
        self.assertEqual(self.look([MIRRORED]), [])
        del self.client.answers["SubmitJob"]
        self.assertEqual([op["instance_name"] for op in self.look([MIRRORED])], ["db1"])
        self.assertEqual(self.look([MIRRORED]), [])

    def test_user_shutdown(self) -> None:
        """What its user has shut down is marked so, and not started."""
        ops = self.look([["web3", "USER_down", "up", []]])
        self.assertEqual(
            ops, [{"OP_ID": "OP_INSTANCE_SHUTDOWN", "instance_name": "web3", "admin_state_source": "user"}]
        )
        self.client.answers["QueryJobs"] = lambda ids, fields: [["waiting", None][: len(fields)] for _ in ids]
        self.client.answers["WaitForJobChange"] = self.wait
        self.assertEqual(self.look([["web3", "USER_down", "up", []]]), [])

    def test_rebooted(self) -> None:
        """After a node's boot the disks of running instances that have a half there are activated, once."""
        self.assertEqual(self.look([RUNNING, MIRRORED]), [])
        self.watched.tell("node", [[NAME, "boot1"], [OTHER, "boot3"]])
        stopped = ["db2", "ADMIN_down", "down", [OTHER]]
        wanted = [{"OP_ID": "OP_INSTANCE_ACTIVATE_DISKS", "instance_name": "db1"}]
        self.assertEqual(self.look([RUNNING, MIRRORED, stopped]), wanted)
        self.watched.tell("node", [[NAME, "boot1"], [OTHER, None]])
        self.assertEqual(self.look([RUNNING, MIRRORED]), [])
        self.watched.tell("node", [[NAME, "boot1"], [OTHER, "boot3"]])
        self.assertEqual(self.look([RUNNING, MIRRORED]), [])

    def test_verify_disks(self) -> None:
        """Disks are checked; those that are not in order are activated, unless a volume is lost; all else is told."""
        self.client.results["OP_GROUP_VERIFY_DISKS"] = [
            {OTHER: "no answer"}, ["db1", "db2"], {"db2": [[NAME, "xenvg/1"]]}
        ]  # fmt: skip
        ops = self.look([RUNNING, MIRRORED], disks=True)
        self.assertEqual([op["OP_ID"] for op in ops], ["OP_GROUP_VERIFY_DISKS", "OP_INSTANCE_ACTIVATE_DISKS"])
        self.assertEqual((ops[0]["group_name"], ops[1]["instance_name"]), (UUID, "db1"))
        told = "\n".join(self.watched.lines)
        self.assertIn(f"disks of node {OTHER} could not be checked: no answer", told)
        self.assertIn("instance db2 has lost volumes", told)

    def look_at_groups(self, *broken: str, silent: bool = False) -> list[str]:
        """One run with volume groups of which some are broken; the nodes that are mended."""
        self.client.answers["QueryClusterInfo"] = lambda: {"volume_group_name": "xenvg"}
        faults = [[node, "lacks something" if node in broken else ""] for node in (NAME, OTHER)]
        self.client.results["OP_NODE_QUERY_STORAGE"] = faults[:1] if silent else faults
        known = self.client.answers["Query"]
        rows = [[NAME, False, True], [OTHER, False, True], ["off", True, True], ["no", False, False]]
        data = [[[0, value] for value in row] for row in rows]
        self.client.answers["Query"] = lambda asked, fields, wanted: (
            {"fields": [], "data": data} if "offline" in fields else known(asked, fields, wanted)
        )
        ops = self.look([], disks=True)
        [asked] = [op for op in ops if op["OP_ID"] == "OP_NODE_QUERY_STORAGE"]
        self.assertEqual((asked["nodes"], asked["name"]), ([NAME, OTHER], "xenvg"))
        return [op["node_name"] for op in ops if op["OP_ID"] == "OP_REPAIR_NODE_STORAGE"]

    def test_volume_groups(self) -> None:
        """The only one that breaks is mended, once; not when others are broken, nor when none was seen whole before."""
        self.assertEqual(self.look_at_groups(OTHER), [])
        self.assertEqual(self.look_at_groups(), [])
        self.assertEqual(self.look_at_groups(silent=True), [])
        self.assertIn(f"nodes {OTHER} do not tell of volume group xenvg; nothing is done", self.watched.lines[-1])
        self.assertEqual(self.look_at_groups(OTHER), [OTHER])
        self.assertIn(f"volume group repair: node {OTHER} is mended", self.watched.lines[-1])
        self.assertEqual(self.look_at_groups(OTHER), [])
        self.assertEqual(self.look_at_groups(), [])
        self.assertEqual(self.look_at_groups(NAME, OTHER), [])
        self.assertIn("are broken; they are left to an administrator", self.watched.lines[-1])
        self.assertEqual(self.look_at_groups(NAME), [])
