"""Nodes and their instances, as an emergency power-off sees them, and the jobs for each of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ganeti_tx.cli.output import NORMAL
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, followed, prepared


@attrs.frozen
class EpoNode:
    """One node."""

    name: str
    is_master: bool
    is_offline: bool
    is_candidate: bool
    address: str
    #: Whether there is an out-of-band program for it.
    has_program: bool


def read_nodes(session: Session) -> list[EpoNode]:
    """All of the cluster. Of nodes without a program nothing is known of their power."""
    fields = ["name", "master", "offline", "master_candidate", "pip", "powered"]
    return [
        EpoNode(name, is_master, is_offline, is_candidate, address, has_program=power == NORMAL)
        for (_, name), (_, is_master), (_, is_offline), (_, is_candidate), (_, address), (
            power,
            _,
        ) in session.client.query("node", fields, None)["data"]
    ]


def instances_of(session: Session, nodes: Sequence[EpoNode], *, running: bool) -> list[str]:
    """Those with their primary node among these which run and should not any more, or should run and do not.

    Of an instance whose node does not answer what it should do counts as what it does, when it is to be stopped.
    """
    names = {node.name for node in nodes}
    fields = ["name", "pnode", "oper_state", "admin_state"]
    found = []
    for row in session.client.query("instance", fields, None)["data"]:
        (_, name), (_, primary), (status, runs), (_, wanted) = row
        runs = runs if status == NORMAL else running and wanted == "up"
        if primary in names and (runs if running else wanted == "up" and not runs):
            found.append(name)
    return sorted(found)


def run_jobs(session: Session, options: Parsed, jobs: Mapping[str, Sequence[OpCode]]) -> list[str]:
    """Submit a job for each name, follow them all, and give the names of those that failed, whose errors are shown."""
    if not jobs:
        return []
    submitted: list[list[dict[str, Any]]] = [[prepared(session, options, op) for op in ops] for ops in jobs.values()]
    failed = []
    for name, (accepted, answer) in zip(jobs, session.client.submit_many_jobs(submitted), strict=True):
        if not accepted:
            session.warn(f"Failed to submit job for {name}: {answer}")
        if not accepted or not followed(session, answer, name):
            failed.append(name)
    return failed
