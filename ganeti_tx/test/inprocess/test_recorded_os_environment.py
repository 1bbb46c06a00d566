"""What scripts of an OS definition are told, against what was recorded of Ganeti 3.0.2.

Lines of the record without scripts are preparation; `refused` names the parameter that the verify script refuses then, `more` are
words that take the place of an allocator's choice.
"""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

RECORDED = recorded.lines("os-environment.jsonl")
NAME = "envdump"
FILES = {
    "ganeti_api_version": b"20\n15\n",
    "variants.list": b"default\ntesting\n",
    "parameters.list": b"dhcp Whether to use DHCP (yes or no)\nroot_size Size of the root file system\n",
}
#: Where the recorded definition was.
DIRECTORY = "/usr/local/lib/ganeti/os"
#: Beyond what Ganeti 3.0.2 tells (design-2.1, "OS API changes").
OWN = {"INSTANCE_HYPERVISOR"}
#: Version 10 of the interface (design-2.0, "Input"); other variables came with version 15, parameters with 20.
FIRST = {
    "PATH", "OS_API_VERSION", "INSTANCE_NAME", "HYPERVISOR", "DISK_COUNT", "NIC_COUNT", "DEBUG_LEVEL", "DISK_0_PATH",
    "DISK_0_ACCESS", "DISK_0_BACKEND_TYPE", "NIC_0_MAC", "NIC_0_IP", "NIC_0_BRIDGE",
}  # fmt: skip


class RecordedOsCase(ClusterCase):
    """With the recorded definition on each node."""

    def setUp(self) -> None:
        super().setUp()
        recorded.prepare(self.cluster)
        self.define("20", "15")

    def define(self, *versions: str) -> None:
        """Have a definition on each node that speaks these versions."""
        directory = self.cluster.paths.os_search_path[0] / NAME
        files = {**FILES, "ganeti_api_version": "".join(f"{each}\n" for each in versions).encode()}
        for node in self.cluster.nodes.values():
            for file, content in files.items():
                put(node.disk, directory / file, content)
            for script in ("create", "export", "import", "rename", "verify"):
                put(node.disk, directory / script, b"#!/bin/sh\nenv\n", 0o755)


class RecordedEnvironmentTests(RecordedOsCase):
    """The recorded commands."""

    maxDiff = None

    def judge(self, refused: str | None) -> None:
        """Have the verify scripts refuse, if a parameter is to be, or accept."""
        script = str(self.cluster.paths.os_search_path[0] / NAME / "verify")
        for node in self.cluster.members:
            node.scripts.script([script, "parameters"], ProcessResult(status=1 if refused else 0))

    def calls(self, node: str, script: str) -> list[Call]:
        """The runs of a script on a node."""
        calls = self.cluster.nodes[f"{node}.example.com"].scripts.calls
        return [call for call in calls if call.argv[0].endswith(f"/{NAME}/{script}")]

    def run_line(self, line: Mapping[str, Any]) -> None:
        """Have a recorded command run; it must end as it did."""
        *words, name = [recorded.here(word) for word in line["argv"]]
        self.judge(line.get("refused"))
        status, out, err = self.scene().run([*words, *line.get("more", ()), name])
        self.assertEqual(status, 1 if "refused" in line else 0, f"{words}: {out}{err}")

    def compare(self, fact: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of the last run of a script."""
        call = self.calls(fact["node"], fact["script"])[-1]
        found = {name: value for name, value in call.env.items() if name not in OWN}
        wrong = recorded.differences(fact["env"], found)
        here = str(self.cluster.paths.os_search_path[0])
        if (list(call.argv[1:]), str(call.cwd)) != (fact["script_args"], fact["cwd"].replace(DIRECTORY, here)):
            wrong.append(f"it was called as {call.argv} in {call.cwd}")
        return [f"{fact['script']}: {each}" for each in wrong]

    def test_as_recorded(self) -> None:
        """There is no difference."""
        wrong: list[str] = []
        for line in RECORDED:
            self.run_line(line)
            wrong += [f"{line['argv']}: {each}" for fact in line["scripts"] for each in self.compare(fact)]
        self.assertEqual("\n".join(wrong), "")

    def test_older_versions(self) -> None:
        """A definition that speaks older versions is told what these have, of the same instance."""
        preparation = [line for line in RECORDED if not line["scripts"]][:2]
        line = next(line for line in RECORDED if "0:size=128M" in line["argv"] and line["scripts"])
        (told,) = [fact["env"] for fact in line["scripts"] if fact["script"] == "create"]
        for each in preparation:
            self.run_line(each)
        for version, names in (("15", {*told, *OWN}), ("10", FIRST & set(told))):
            self.define(version)
            name = "envdump+default" if version == "15" else "envdump"
            self.run_line({**line, "argv": [name if word.startswith(NAME) else word for word in line["argv"]]})
            call = self.calls("node2", "create")[-1]
            self.assertEqual((set(call.env), call.env["OS_API_VERSION"]), (names, version))
            self.ok("gnt-instance remove -f inst2.example.com")
