"""Faults of this program that come up while a node does something for the master."""

from ganeti_tx.runtime.daemon_logs import log_of
from ganeti_tx.runtime.daemon_names import NODE

#: As what they come up; a cancellation is none of them.
OWN_FAULTS = (TypeError, ValueError, LookupError, AttributeError, AssertionError, RuntimeError)


def told_to_caller(fault: BaseException) -> str:
    """One line; the log has it in full."""
    return f"internal error ({type(fault).__name__}: {fault}); on the node, {log_of(NODE)} has more"
