"""An allocator that answers each command what the recorded one had answered, as far as the record shows it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put

NAMES = ("hail", "lenient")
LIMIT = 1 << 20
SELECTED = "Selected nodes for instance {} via iallocator \\w+: (.+)"
MOVED = re.compile(r"(\S+) \(to (\S+?)\)")
UNMOVED = re.compile(r"Unable to evacuate instances (\S+) \((.+)\)")
REFUSED = re.compile(r"Can't (?:compute|find)[^:]*: (.+)")


def install(cluster: InProcessCluster, line: Mapping[str, Any]) -> None:
    """Have it on the master, for the next command: under each of its names."""
    for name in NAMES:
        program = cluster.paths.iallocator_search_path[0] / name
        put(cluster.master.disk, program, b"#!/bin/sh\n", 0o755)
        cluster.master.scripts.script([str(program)], lambda call: answered(cluster, call, line))


def answered(cluster: InProcessCluster, call: Call, line: Mapping[str, Any]) -> ProcessResult:
    """Its whole answer."""
    document = msgspec.json.decode(cluster.master.disk.read(Path(call.argv[1]), LIMIT))
    told = recorded.here(line.get("stdout", "") + line.get("stderr", ""))
    if "Failure while running the iallocator" in told:
        return ProcessResult(status=1, stderr=b"it cannot do that")
    if told.startswith('{"success"'):
        return ProcessResult(stdout=told.encode())
    return ProcessResult(stdout=msgspec.json.encode(answer(document["request"], told)))


def answer(request: Mapping[str, Any], told: str) -> Mapping[str, Any]:
    """What the record shows."""
    if request["type"] in ("node-evacuate", "change-group"):
        failed = [list(each) for each in UNMOVED.findall(told)]
        moves = [] if failed else MOVED.findall(told)
        if not failed and not moves:
            return refusal("Request failed: nothing was recorded")
        return success([[[name, "", [node]] for name, node in moves], failed[:1], [migration(*each) for each in moves]])
    if chosen := re.search(SELECTED.format(re.escape(request["name"])), told):
        return success(chosen[1].split(", "))
    refused = REFUSED.search(told)
    return refusal(refused[1] if refused else "Request failed: nothing was recorded")


def refusal(why: str) -> Mapping[str, Any]:
    """As an allocator says it."""
    return {"success": False, "info": why, "result": []}


def success(result: list[Any]) -> Mapping[str, Any]:
    """As an allocator says it."""
    return {"success": True, "info": "Request successful", "result": result}


def migration(name: str, node: str) -> list[Mapping[str, Any]]:
    """The job that moves an instance."""
    move = {"OP_ID": "OP_INSTANCE_MIGRATE", "instance_name": name, "target_node": node, "allow_failover": True}
    return [{**move, "ignore_hvversions": True}]
