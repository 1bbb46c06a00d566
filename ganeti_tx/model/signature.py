"""Who asked for a job over the Remote API, as the reason trail of each of its opcodes has it: a signature.

The Remote API alone writes signatures, and shows them to nobody. What a job submits bears that of the job.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.scope import SCOPES_SOURCE, Scope, scopes_of

#: The entry of a reason trail that says who asked for a job.
CALLER_SOURCE = "gnt:rapi:caller"
SOURCES = frozenset({CALLER_SOURCE, SCOPES_SOURCE})

Ops = Sequence[Mapping[str, Any]]
Entry = TypeVar("Entry", bound=Sequence[Any])


class Asker(NamedTuple):
    """Who asked for a job, and what he was kept to then."""

    name: str
    scopes: frozenset[Scope]


def signature_of(reason: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries of a reason trail that are the signature."""
    return tuple(entry for entry in reason if entry[0] in SOURCES)


def unsigned(reason: Iterable[Entry]) -> tuple[Entry, ...]:
    """All others."""
    return tuple(entry for entry in reason if entry[0] not in SOURCES)


def requests_of(reason: Iterable[Sequence[Any]]) -> list[tuple[str, int]]:
    """Who asked for an opcode, and when his request came, in nanoseconds since the epoch."""
    return [(entry[1], entry[2]) for entry in reason if entry[0] == CALLER_SOURCE]


def callers_of(ops: Ops) -> set[str]:
    """Who asked for all opcodes of a job: one caller, or nobody who is known."""
    named = [{caller for caller, _at in requests_of(op.get("reason", ()))} for op in ops]
    return set.intersection(*named) if named else set()


def scoped_askers_of(ops: Ops) -> set[Asker]:
    """The same of callers who were kept to some instances then, as far as that can be read: others can write there, too."""
    try:
        kept = [{scopes.every for scopes in scopes_of(op.get("reason", ()))} for op in ops]
    except ValueError:
        return set()
    return {Asker(name, scopes) for name in callers_of(ops) for scopes in set.intersection(*kept)}


def signed_as(op: OpCode, submitted: OpCode) -> OpCode:
    """What the job of an opcode submits, with the signature of the opcode and no other."""
    return msgspec.structs.replace(submitted, reason=(*unsigned(submitted.reason), *signature_of(op.reason)))
