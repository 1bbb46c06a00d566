"""The allocator of the recorded cluster: it answers with what the record says that it answered."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put

NAMES = ("hail", "lenient")
BROKEN = re.compile(r"iallocator module '\w+' failed: exited with exit code (\d+), output '(.*)'", re.DOTALL)
SELECTED = re.compile(r"Selected nodes for instance \S+ via iallocator \w+: (.*)")
REFUSED = re.compile(r"Can't compute nodes using iallocator '\w+': (.*)", re.DOTALL)
STAYS = re.compile(r"Unable to evacuate instances (\S+) \((.*)\)")
MOVED = re.compile(r"Instances to be moved: (\S+) \(to (\S+)\)")
#: Where instances come to that change their group.
HOMES = {"group2": "node3.example.com", "default": "node1.example.com"}


@define
class RecordedAllocator:
    """What is said for one line after the other. A line that waits for nothing does not say it: then nobody finds room."""

    cluster: InProcessCluster
    line: Mapping[str, Any]

    def install(self) -> None:
        """On the master, under each name."""
        for name in NAMES:
            path = self.cluster.paths.iallocator_search_path[0] / name
            put(self.cluster.master.disk, path, b"#!/bin/sh\n", 0o755)
            self.cluster.master.scripts.script([str(path)], self._run)

    def _run(self, call: Call) -> ProcessResult:
        said = recorded.here(self.line.get("stdout", "") + self.line.get("stderr", ""))
        if broken := BROKEN.search(said):
            return ProcessResult(status=int(broken[1]), stdout=broken[2].encode())
        request = json.loads(self.cluster.master.disk.read(Path(call.argv[1]), 1 << 20))["request"]
        answer = {"success": True, "info": "", "result": [], **self._answer(said, request)}
        return ProcessResult(stdout=json.dumps(answer).encode())

    def _answer(self, said: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if selected := SELECTED.search(said):
            return {"result": selected[1].split(", ")}
        if refused := REFUSED.search(said):
            return {"success": False, "info": refused[1].strip()}
        if stays := STAYS.search(said):
            return {"result": [[], [[stays[1], stays[2]]], []]}
        if moved := MOVED.search(said):
            return {"result": _moved(moved[1], moved[2])}
        if request["type"] == "multi-allocate":
            return {"result": [[[each["name"], ["node1.example.com"]] for each in request["instances"]], []]}
        return {"success": False, "info": "nobody has recorded where"}


def _moved(name: str, group: str) -> list[Any]:
    op = {"OP_ID": "OP_INSTANCE_MIGRATE", "instance_name": name, "target_node": HOMES[group], "allow_failover": True}
    return [[[name, group, [HOMES[group]]]], [], [[op]]]
