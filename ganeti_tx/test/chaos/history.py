"""What must have become of each instance, given how the opcodes on it ended."""

from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen

from ganeti_tx.queue.job import QueuedJob, Status, Timestamp
from ganeti_tx.test.chaos.load import CREATE, REBOOT, REMOVE, SHUTDOWN, STARTUP


class State(StrEnum):
    """An instance as the configuration has it."""

    ABSENT = "absent"
    DOWN = "down"
    UP = "up"


THERE = frozenset({State.DOWN, State.UP})
#: In which states an opcode can succeed, and what it makes of them.
EFFECT = {
    CREATE: (frozenset({State.ABSENT}), State.DOWN),  # or up, when it shall be started
    REMOVE: (THERE, State.ABSENT),
    STARTUP: (THERE, State.UP),
    SHUTDOWN: (THERE, State.DOWN),
    REBOOT: (THERE, State.UP),
}


@frozen
class Deed:
    """One opcode on an instance that began to run."""

    began: Timestamp
    job_id: int
    kind: str
    succeeded: bool
    starts: bool = False


@frozen
class Fate:
    """Which states an instance may be in after its last deed."""

    states: frozenset[State]
    last: Deed | None
    violations: tuple[str, ...]


def deeds(jobs: Iterable[QueuedJob]) -> dict[str, list[Deed]]:
    """What was done to each instance, in the order in which its lock was had."""
    found: dict[str, list[Deed]] = {}
    for job in jobs:
        for op in job.ops:
            if op.input["OP_ID"] in EFFECT and op.exec_timestamp is not None:
                starts = bool(op.input.get("start"))
                deed = Deed(op.exec_timestamp, job.id, op.input["OP_ID"], op.status is Status.SUCCESS, starts)
                found.setdefault(op.input["instance_name"], []).append(deed)
    return {name: sorted(each, key=lambda deed: deed.began) for name, each in found.items()}


def fate(name: str, done: Iterable[Deed]) -> Fate:
    """Follow an instance through its deeds. One that failed may have done its work, or nothing, or undone it."""
    states, last, violations = frozenset({State.ABSENT}), None, []
    for deed in done:
        last = deed
        possible, result = EFFECT[deed.kind]
        if deed.starts:
            result = State.UP
        if not deed.succeeded:
            if states & possible:
                states |= {State.ABSENT, State.DOWN, result} if deed.kind in (CREATE, REMOVE) else THERE
            continue
        if not states & possible:
            violations.append(
                f"{deed.kind} of job {deed.job_id} succeeded on {name}, which was {'/'.join(sorted(states))}"
            )
        states = frozenset({result})
    return Fate(states, last, tuple(violations))
