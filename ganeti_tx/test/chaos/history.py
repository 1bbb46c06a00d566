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
class Operation:
    """One opcode on an instance that began to run."""

    began: Timestamp
    job_id: int
    kind: str
    succeeded: bool
    starts: bool = False


@frozen
class Expected:
    """Which states an instance may be in after its last operation."""

    states: frozenset[State]
    last: Operation | None
    violations: tuple[str, ...]


def operations(jobs: Iterable[QueuedJob]) -> dict[str, list[Operation]]:
    """What was done to each instance, in the order in which its lock was had."""
    found: dict[str, list[Operation]] = {}
    for job in jobs:
        for op in job.ops:
            if op.input["OP_ID"] in EFFECT and op.exec_timestamp is not None:
                starts = bool(op.input.get("start"))
                operation = Operation(op.exec_timestamp, job.id, op.input["OP_ID"], op.status is Status.SUCCESS, starts)
                found.setdefault(op.input["instance_name"], []).append(operation)
    return {name: sorted(each, key=lambda operation: operation.began) for name, each in found.items()}


def expected(name: str, done: Iterable[Operation]) -> Expected:
    """Follow an instance through its operations. One that failed may have done its work, or nothing, or undone it."""
    states, last, violations = frozenset({State.ABSENT}), None, []
    for operation in done:
        last = operation
        possible, result = EFFECT[operation.kind]
        if operation.starts:
            result = State.UP
        if not operation.succeeded:
            if states & possible:
                states |= {State.ABSENT, State.DOWN, result} if operation.kind in (CREATE, REMOVE) else THERE
            continue
        if not states & possible:
            violations.append(
                f"{operation.kind} of job {operation.job_id} succeeded on {name}, which was {'/'.join(sorted(states))}"
            )
        states = frozenset({result})
    return Expected(states, last, tuple(violations))
