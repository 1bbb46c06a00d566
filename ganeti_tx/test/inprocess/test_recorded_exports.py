"""What an export says, and what its scripts are told, against what was recorded of Ganeti 3.0.2."""

import re
from pathlib import Path

from ganeti_tx.model.export_file import read_export
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.test_recorded_os_environment import OWN, RecordedOsCase

FACTS = Path(__file__).parent / "facts"
NAME = "inst2.example.com"
ADD = (
    "gnt-instance add -t file --disk 0:size=128M --disk 1:size=16M -o envdump+default -H fake --no-start --no-ip-check"
    f" --ignore-ipolicy -B minmem=64,maxmem=64,vcpus=2 -n node2 {NAME}"
)
#: What only ours says.
OURS = re.compile(r"(disk\d+_sha256|uuid) = .*")


class RecordedExportTests(RecordedOsCase):
    """The recorded instance."""

    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-cluster modify -N link=br0")
        self.ok(ADD)

    def compare(self, script: str) -> list[str]:
        """What is not as recorded of the runs of a script."""
        facts = [line["env"] for line in recorded.lines("os-environment-backup.jsonl") if line["script"] == script]
        streamed = [
            spec.script.environment
            for node in self.cluster.members
            for spec in node.transfers.begun
            if spec.script is not None and spec.command[0].endswith(f"/{script}")
        ]
        others = [
            call.env
            for node in self.cluster.members
            for call in node.scripts.calls
            if call.argv[0].endswith(f"/{script}")
        ]
        found = [{name: each[name] for name in each if name not in OWN} for each in (*streamed, *others)]
        self.assertEqual(len(found), len(facts))
        return [wrong for pair in zip(facts, found, strict=True) for wrong in recorded.differences(*pair)]

    def test_hooks(self) -> None:
        """The nodes on which they run, and what they are told; what an import's are told of its export."""
        hooks = recorded.lines("hooks-backup.jsonl")[0]["hooks"]
        for node in self.cluster.members:
            for directory in [hook["dir"] for hook in hooks] + ["instance-add-pre.d"]:
                put(node.disk, self.cluster.paths.hooks_dir / directory / "seen", b"#!/bin/sh\n", 0o755)
        self.ok(f"gnt-backup export -n node1 {NAME}")
        for hook in hooks:
            ran = {node.name.split(".")[0]: self.ran(node, hook["dir"]) for node in self.cluster.members}
            found = {name: env for name, env in ran.items() if env is not None}
            self.assertEqual(set(found), set(hook["nodes"]))
            for environment in found.values():
                self.assertEqual(recorded.differences(hook["env"], environment), [])
        self.ok(f"gnt-instance remove -f {NAME}")
        self.ok(f"gnt-backup import -n node2 --src-node=node1 --no-ip-check --ignore-ipolicy {NAME}")
        told = self.ran(self.cluster.node(2), "instance-add-pre.d") or {}
        self.assertEqual((told["GANETI_ADD_MODE"], told["GANETI_SRC_NODE"]), ("import", "node1.example.com"))
        self.assertEqual(told["GANETI_SRC_PATH"], f"{self.cluster.paths.export_dir}/{NAME}")
        self.assertRegex(told["GANETI_SRC_IMAGES"], rf"^\['{told['GANETI_SRC_PATH']}/[^']+', '[^']+'\]$")

    def ran(self, node: SimulatedNode, directory: str) -> dict[str, str] | None:
        """The environment of the last run of a hook on a node."""
        calls = [call for call in node.scripts.calls if f"/{directory}/" in call.argv[0]]
        return dict(calls[-1].env) if calls else None

    def put(self, name: str, text: str) -> None:
        """A file of an export on node1."""
        put(self.cluster.node(1).disk, self.cluster.paths.export_dir / name, text.encode())

    def test_export(self) -> None:
        """Line by line, with the uuid and a checksum for each disk besides."""
        self.ok(f"gnt-backup export -n node1 {NAME}")
        self.assertEqual(self.compare("export"), [])
        path = self.cluster.paths.export_dir / NAME / "config.ini"
        found = self.cluster.node(1).disk.read(path, 1 << 20).decode().splitlines()
        wanted = (FACTS / "export-noname.config.ini").read_text().splitlines()
        ours = [line for line in found if not OURS.fullmatch(line)]
        self.assertEqual(len(found), len(ours) + 3)
        self.assertEqual(len(ours), len(wanted))
        for line, fact in zip(ours, wanted, strict=True):
            fact = fact.replace("<TIME epoch>", line.rpartition(" ")[2])
            self.assertTrue(recorded.same("", fact, line), (fact, line))

    def test_import(self) -> None:
        """The same with another script, and with the one that tells the system its new name."""
        self.ok(f"gnt-instance remove -f {NAME}")
        self.put(f"{NAME}/config.ini", self.taken())
        self.put(f"{NAME}/1700000000", "")
        self.ok(
            "gnt-backup import -n node2 -t file --src-node=node1 --src-dir=inst2.example.com --no-ip-check"
            " --ignore-ipolicy --disk 0:size=16M --net 0:mac=generate inst8.example.com"
        )
        self.assertEqual((self.compare("import"), self.compare("rename")), ([], []))

    def taken(self) -> str:
        """The description that was recorded, with something for its placeholders."""
        text = (FACTS / "export-inst2.config.ini").read_text().replace("<MAC>", "aa:00:00:00:00:99")
        return recorded.here(re.sub("<TIME epoch>|<UUID[^>]*>", "1700000000", text))

    def test_taken(self) -> None:
        """An export that Ganeti has made is imported as it is, with its parameters, tags and names."""
        self.ok(f"gnt-instance remove -f {NAME}")
        exported = read_export(self.taken())
        self.put(f"{NAME}/config.ini", self.taken())
        self.put(f"{NAME}/{exported.disks[0].dump}", "what Ganeti has exported")
        self.ok(f"gnt-backup import -n node3 --no-ip-check --ignore-ipolicy {NAME}")
        [instance] = self.cluster.config.instances.values()
        self.assertEqual((instance.tags, instance.osparams), (("x1", "x2"), {"dhcp": "yes"}))
        self.assertEqual((instance.nics[0].mac, instance.nics[0].ip), ("aa:00:00:00:00:99", "192.0.2.50"))
        [disk] = [self.cluster.config.disks[uuid] for uuid in instance.disks]
        self.assertEqual((disk.size, disk.name), (16, "first"))
        [made] = self.cluster.node(3).files_storage.disks.values()
        self.assertEqual(made.content, "what Ganeti has exported")
