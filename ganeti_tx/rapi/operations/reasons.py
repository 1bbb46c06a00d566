"""The reason trail of a job that came over the Remote API."""

from ganeti_tx.model.opcodes.base import Reason
from ganeti_tx.rapi.operations.arguments import text
from ganeti_tx.rapi.operations.operation import Call

USER = "gnt:user"
LIBRARY = "gnt:library:rlib2:"


def reason_trail(call: Call) -> tuple[Reason, ...]:
    """Entries of [source, text, nanoseconds] (Ganeti 3.0 RAPI table, reason_trail): what the user said, if anything, and
    which resource was asked. What is no printable character becomes a blank: others read it in their terminals.
    """
    said = "".join(each if each.isprintable() else " " for each in text(call, "reason") or "")
    user = ((USER, said, call.received),) if said else ()
    return (*user, (f"{LIBRARY}{call.operation.resource}", "", call.received))
