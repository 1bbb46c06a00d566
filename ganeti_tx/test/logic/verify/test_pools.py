"""Tests of what cluster verification tells of the directories of file storage."""

from msgspec.structs import replace

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes import OpClusterVerifyGroup
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import CONFIG, FILE_DISK, GROUP, UnitTestCase

FILE, SHARED = "ERROR:ENODEFILESTORAGEPATHUNUSABLE:node:", "ERROR:ENODESHAREDFILESTORAGEPATHUNUSABLE:node:"


class VerifyStorageTests(UnitTestCase):
    """Two nodes, of which one allows nothing."""

    def errors(self, *enabled: DiskTemplate) -> list[str]:
        """The findings with these templates."""
        cluster = replace(
            CONFIG.cluster,
            enabled_disk_templates=enabled,
            file_storage_dir="/srv/file",
            shared_file_storage_dir="/srv/shared",
        )
        self.stage.config.session.store._on_disk = replace(CONFIG, cluster=cluster)
        self.stage.feedback.clear()
        self.nodes.answers[NodeVerify] = self._answer
        self.run_op(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True))
        return sorted(line.strip(" -") for line in self.stage.feedback if "ERROR:ENODE" in line)

    def test_findings(self) -> None:
        """Each directory that a node cannot use is told with the node's words, and what is wrong with its list."""
        both = (DiskTemplate.FILE, DiskTemplate.SHAREDFILE)
        name = "node2.example.com"
        self.assertEqual(
            self.errors(*both),
            [
                f"ERROR:ENODEFILESTORAGEPATHS:node:{name}:Found forbidden file storage paths: '/etc' is bad",
                f"{FILE}{name}:The configured file storage path is unusable: /srv/file is not allowed",
                f"{SHARED}{name}:The configured sharedfile storage path is unusable: /srv/shared is not allowed",
            ],
        )
        self.assertNotIn(SHARED, "".join(self.errors(DiskTemplate.FILE)))
        self.assertEqual(self.errors(DiskTemplate.DISKLESS), [])

    def orphans(self, first: dict[str, object] | None) -> list[str]:
        """The volumes that are said to be nobody's, where the second node lists the disk of an instance on the first one.

        @param first: what that one answers, if anything.
        """
        seen = {"time": 0.0, "volumes": {"file": [list(FILE_DISK.logical_id or ())]}}

        def answer(node: str, call: NodeVerify) -> object:
            if first is None and node.startswith("node1"):
                raise NodeUnreachableError("no route")
            return first if node.startswith("node1") else seen

        self.stage.feedback.clear()
        self.nodes.answers[NodeVerify] = answer
        self.run_op(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True))
        return [line for line in self.stage.feedback if "ENODEORPHANLV" in line]

    def test_silent(self) -> None:
        """A file is called nobody's if its home does not have it in the same place; whoever does not tell may have it."""
        (line,) = self.orphans({"time": 0.0, "volumes": {"file": []}})
        self.assertIn("node2.example.com:volume /srv/ganeti/file-storage/web1.example.com/disk0 is unknown", line)
        untold = {"time": 0.0, "failed": {"volumes": "broken"}}
        for silent in (None, untold, {"time": 0.0, "volumes": {"file": "broken"}}):
            self.assertEqual(self.orphans(silent), [])

    def _answer(self, node: str, call: NodeVerify) -> object:
        if node.startswith("node1"):
            return {**dict.fromkeys(call.checks), "time": 0.0}
        faults = {name: f"{path} is not allowed" for name, path in call.checks.items() if name.endswith("-path")}
        return {**faults, "time": 0.0, "allowed-file-storage-paths": ["'/etc' is bad"]}
