"""gnt-cluster watcher."""

import time
from collections.abc import Sequence

from ganeti_tx.cli.options import TABLE, Argument, Command
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.durations import parse_duration


def watcher(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Have the watcher leave the cluster alone for a while, have it go on, or show which it does."""
    if words[0] == "pause":
        _pause(session, words[1:])
    elif len(words) > 1:
        raise UsageError(f"'{words[0]}' takes no duration, got {words[1]!r}")
    elif words[0] == "continue":
        session.client.set_watcher_pause(None)
        _show(session, "The watcher is no longer paused.", None)
    else:
        (end,) = session.client.query_config_values(["watcher_pause"])
        _show(session, "The watcher is not paused." if end is None else paused_until(end), end)
    return ExitCode.SUCCESS


def _show(session: Session, text: str, end: float | None) -> None:
    """Programs get whether it is paused, and until when."""
    show(session, [text], lambda: {"paused": end is not None, "until": end}, ["paused", "until"])


def _pause(session: Session, durations: Sequence[str]) -> None:
    if not durations:
        raise OpPrereqError("Missing pause duration", ECode.INVAL)
    seconds = parse_duration(durations[0])
    if not seconds:
        raise OpPrereqError(f"Invalid time specification '{durations[0]}'", ECode.INVAL)
    end = session.client.set_watcher_pause(session.now() + seconds)
    _show(session, paused_until(end), end)


def paused_until(end: float) -> str:
    """As Ganeti says it, in local time."""
    return f"The watcher is paused until {time.ctime(end)}."


WATCHER = Command(
    watcher,
    (Argument("choice", 1, 1, ("pause", "continue", "info")), Argument("suggest", 0, 1, ("30m", "1h", "4h"))),
    prints=TABLE,
)
