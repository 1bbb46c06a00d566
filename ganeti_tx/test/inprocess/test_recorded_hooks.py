"""Which hooks commands run where, and what scripts are told, against what was recorded of Ganeti 3.0.2.

Lines of the record without hooks are preparation; `lost` names files of disks that were removed by hand before; `apart` names
variables that are left out: the recorded instance had networks, or doc/design/hooks.rst says why they differ.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.hail import install_hail

RECORDED = recorded.lines("hooks.jsonl")
EXPORTS = recorded.lines("hooks-backup.jsonl")
#: Commands that need an allocator, or another name of the cluster.
MOVES = recorded.lines("hooks-moves.jsonl")
#: What is submitted in the place of commands that make, or take apart, what a cluster in one process is.
SUBMITTED = {"destroy": "OP_CLUSTER_DESTROY", "init": "OP_CLUSTER_POST_INIT"}
#: It runs here after every change of the configuration, as Ganeti promises but does not do (doc/design/hooks.rst).
APART = "config-update-post.d"


class RecordedHooksTests(ClusterCase):
    """The recorded commands, one after the other, with a script in each hook on every node."""

    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.ended: dict[str, int] = {}
        recorded.prepare(self.cluster)

    def install(self) -> None:
        """The scripts, also on nodes that have come meanwhile."""
        directories = {hook["dir"] for line in (*RECORDED, *MOVES) for hook in line.get("hooks", ())}
        for node in self.cluster.nodes.values():
            for directory in directories:
                put(node.disk, self.cluster.paths.hooks_dir / directory / "seen", b"#!/bin/sh\n", 0o755)

    def runs(self) -> dict[str, dict[str, Call]]:
        """What ran since the last time: by directory and node."""
        found: dict[str, dict[str, Call]] = {}
        for node in self.cluster.nodes.values():
            calls = node.scripts.calls if hasattr(node, "scripts") else []
            known = self.ended.get(node.name, 0)
            for call in calls[known if known <= len(calls) else 0 :]:
                path = Path(call.argv[0])
                if path.name == "seen" and path.parent.name != APART:
                    found.setdefault(path.parent.name, {})[node.name.split(".")[0]] = call
            self.ended[node.name] = len(calls)
        return found

    def compare(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of one command."""
        words = [recorded.here(word) for word in line["argv"]]
        self.lose(line.get("lost", {}))
        status, out, err = self.submit(words[1]) if words[1] in SUBMITTED else self.scene().run(words)
        if status != line["status"]:
            return [f"{words} ended with {status}: {out}{err}"]
        found, wrong = self.runs(), []
        if "hooks" not in line:
            return []
        hooks = [hook for hook in line["hooks"] if hook["dir"] != APART]
        wanted = {hook["dir"]: set(hook["nodes"]) for hook in hooks}
        if wanted != (ran := {directory: set(calls) for directory, calls in found.items()}):
            return [f"{words} ran {ran}, not {wanted}"]
        for hook in hooks:
            for node in hook["nodes"]:
                call = found[hook["dir"]][node]
                apart = line.get("apart", "\n")
                told = {name: value for name, value in call.env.items() if apart not in name}
                wrong += recorded.differences(hook.get("env", told), told)
                if str(call.cwd) != hook["cwd"]:
                    wrong.append(f"it ran in {call.cwd}")
        return [f"{' '.join(words)}: {each}" for each in dict.fromkeys(wrong)]

    def lose(self, lost: Mapping[str, Sequence[str]]) -> None:
        """Files of disks on nodes, by the number of the node, are gone before a command."""
        for number, names in lost.items():
            disks = self.cluster.node(int(number)).files_storage.disks
            for key in [key for key in disks if key.endswith(tuple(names))]:
                del disks[key]

    def submit(self, command: str) -> tuple[int, str, str]:
        """The job of a command alone."""
        job_id = self.luxi().submit_job([{"OP_ID": SUBMITTED[command], "reason": []}])
        self.cluster.pass_time(30)
        return (0 if self.statuses(job_id) == ["success"] else 1), "", ""

    def test_as_recorded(self) -> None:
        """There is no difference."""
        self.assertEqual(self.compare_all(RECORDED), "")

    def test_moves(self) -> None:
        """There is none for moves by allocator, for the cluster's own commands and for its beginning."""
        install_hail(self.cluster)
        for node in self.cluster.members:
            hosts = node.disk.read(self.cluster.paths.etc_hosts, 1 << 16)
            put(node.disk, self.cluster.paths.etc_hosts, hosts + b"192.0.2.99 renamed.example.com\n")
        self.assertEqual(self.compare_all(MOVES), "")

    def compare_all(self, lines: Sequence[Mapping[str, Any]]) -> str:
        """The differences."""
        wrong: list[str] = []
        for line in lines:
            self.install()
            wrong += self.compare(line)
        return "\n".join(wrong)

    def test_every_hook(self) -> None:
        """Each hook that there is was recorded, but for those of mirrors, and of what always fails in Ganeti 3.0.2."""
        ran = {
            hook["dir"].rpartition("-")[0] for line in (*RECORDED, *MOVES, *EXPORTS) for hook in line.get("hooks", ())
        }
        there = {unit.hook.path for unit in UNITS.values() if unit.hook is not None}
        self.assertEqual(there - ran, {"group-evacuate", "mirrors-replace", "network-rename"})
