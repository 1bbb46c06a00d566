"""Which hooks commands run where, and what scripts are told, against what was recorded of Ganeti 3.0.2.

Lines of the record without hooks are preparation; `apart` names variables that are left out: the recorded instance had networks, or
doc/design/hooks.rst says why they differ.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ganeti_tx.cli.main import program_named
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "facts" / "hooks.jsonl").read_text().splitlines()]
#: It runs here after every change of the configuration, as Ganeti promises but does not do (doc/design/hooks.rst).
APART = "config-update-post.d"
#: The recorded cluster's names and addresses, and what they are in this one.
RENAMED = (
    ("qa.test", "example.com"),
    ("198.18.0.100", "192.0.2.100"),
    ("198.18.0.1", "192.0.2."),
    ("198.19.0.1", "192.0.2."),
)
#: What is another one in each cluster: how it was recorded, and how it looks.
FORMS = {
    "<UUID": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "<MAC": re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}"),
}


def here(text: str) -> str:
    """A recorded text as it is to be in this cluster."""
    for there, now in RENAMED:
        text = text.replace(there, now)
    return text


def same(name: str, recorded: str, found: str) -> bool:
    """Whether a value is the recorded one, or one of its kind; tags have no order, and groups have their names here."""
    if name.endswith("_TAGS"):
        return sorted(recorded.split()) == sorted(found.split())
    if name.endswith("GROUP_NAME") and recorded.startswith("<UUID group "):
        return found == recorded.removeprefix("<UUID group ").removesuffix(">")
    form = next((form for start, form in FORMS.items() if recorded.startswith(start)), None)
    return here(recorded) == found if form is None else form.fullmatch(found) is not None


def differences(recorded: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """The variables that are missing, that are too many, and that have another value."""
    missing = [f"{name} is missing" for name in recorded if name not in found]
    more = [f"{name}={value} is too much" for name, value in found.items() if name not in recorded]
    other = [
        f"{name} is {found[name]!r}, not {here(value)!r}"
        for name, value in recorded.items()
        if name in found and not same(name, value, found[name])
    ]
    return [*missing, *more, *other]


class RecordedHooksTests(ClusterCase):
    """The recorded commands, one after the other, with a script in each hook on every node."""

    def setUp(self) -> None:
        super().setUp()
        self.ended: dict[str, int] = {}

        hosts = "".join(f"192.0.2.{50 + number} inst{number}.example.com\n" for number in range(1, 9)).encode()
        for node in self.cluster.nodes.values():
            put(node.disk, self.cluster.paths.etc_hosts, node.disk.read(self.cluster.paths.etc_hosts, 1 << 16) + hosts)
            node.disk.mkdir(Path("/sys/class/net/br0/bridge"))

    def install(self) -> None:
        """The scripts, also on nodes that have come meanwhile."""
        directories = {hook["dir"] for line in RECORDED for hook in line.get("hooks", ())}
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
        words = [here(word) for word in line["argv"]]
        status, out, err = self.destroy() if words[1] == "destroy" else self.scene().run(words)
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
                wrong += differences(hook.get("env", told), told)
                if str(call.cwd) != hook["cwd"]:
                    wrong.append(f"it ran in {call.cwd}")
        return [f"{' '.join(words)}: {each}" for each in dict.fromkeys(wrong)]

    def destroy(self) -> tuple[int, str, str]:
        """The job of `gnt-cluster destroy` alone: afterwards the command takes the machine apart."""
        job_id = self.luxi().submit_job([{"OP_ID": "OP_CLUSTER_DESTROY", "reason": []}])
        self.cluster.pass_time(30)
        return (0 if self.statuses(job_id) == ["success"] else 1), "", ""

    maxDiff = None

    def test_as_recorded(self) -> None:
        """There is no difference for any command that there is."""
        wrong: list[str] = []
        for line in RECORDED:
            self.install()
            program, command = line["argv"][:2]
            if command in program_named(program).commands:
                wrong += self.compare(line)
        self.assertEqual("\n".join(wrong), "")
