"""gnt-cluster queue."""

from collections.abc import Sequence

from ganeti_tx.cli.options import TABLE, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode


def queue(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Close the queue to new jobs, open it, or show which it is."""
    if words[0] == "info":
        (drained,) = session.client.query_config_values(["drain_flag"])
        text = f"The drain flag is {'set' if drained else 'unset'}"
        show(session, [text], lambda: {"drained": bool(drained)}, ["drained"])
    else:
        session.client.set_drain_flag(words[0] == "drain")
    return ExitCode.SUCCESS


QUEUE = Command(queue, (Argument("choice", 1, 1, ("drain", "undrain", "info")),), prints=TABLE)
