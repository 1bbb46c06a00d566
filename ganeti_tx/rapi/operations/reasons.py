"""The reason trail of a job that came over the Remote API."""

from ganeti_tx.model.opcodes.base import Reason
from ganeti_tx.rapi.operations.arguments import text
from ganeti_tx.rapi.operations.operation import Call

USER = "gnt:user"
LIBRARY = "gnt:library:rlib2:"


def reason_trail(call: Call) -> tuple[Reason, ...]:
    """Entries of [source, text, nanoseconds] (Ganeti 3.0 RAPI table, reason_trail): what the user said, if anything, and
    which resource was asked.
    """
    said = text(call, "reason")
    user = ((USER, said, call.received),) if said else ()
    return (*user, (f"{LIBRARY}{call.operation.resource}", "", call.received))
