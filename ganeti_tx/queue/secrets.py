"""Secret parameters: handed to a job's process from memory, never from a file."""

from typing import Any

from ganeti_tx.errors import OpExecError
from ganeti_tx.model.opcodes import Disclosure, OpCode, encode
from ganeti_tx.model.opcodes.private import REDACTED
from ganeti_tx.queue.job import FINAL, QueuedJob

#: Secret parameters of a job's opcodes, by opcode index.
Secrets = dict[int, dict[str, Any]]


def secret_parameters(op: OpCode) -> dict[str, Any]:
    """The parameters of an opcode that no file may hold, as they came over the wire."""
    stored = encode(op, Disclosure.STORED)
    return {name: value for name, value in encode(op, Disclosure.WIRE).items() if stored.get(name) != value}


def lost_secrets(job: QueuedJob) -> OpExecError | None:
    """Why a job that an earlier daemon left must not run: its file has only the mark where a secret was."""
    waiting = [op.input for op in job.ops if op.status not in FINAL]
    lost = sorted({name for stored in waiting for name, value in stored.items() if _holds_mark(value)})
    if not lost:
        return None
    return OpExecError(
        f"job {job.id} cannot run: its secret parameters ({', '.join(lost)}) are kept in memory only, "
        "and the daemon that had them has ended; submit it again"
    )


def _holds_mark(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_holds_mark, value.values()))
        case list():
            return any(map(_holds_mark, value))
    return bool(value == REDACTED)
