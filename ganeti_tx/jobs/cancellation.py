"""What a canceled opcode tells: where it stopped, what was taken back, what was left."""

from collections.abc import Sequence

from ganeti_tx.logic.safe_points import SafePoints

#: An opcode that waited, or whose job was stopped before it.
NOT_BEGUN = "the job was canceled before this opcode began"
#: More steps than this are counted, not named.
NAMED = 12


def outcome(points: SafePoints) -> str:
    """The result of the opcode."""
    if points.stopped_at is None:
        return NOT_BEGUN
    stopped = f"the job was canceled before {points.stopped_at}"
    if points.undone:
        return f"{stopped}; what had been done was taken back, see the job's log"
    return (
        f"{stopped}; nothing was taken back, see the job's log" if points.done else f"{stopped}; nothing had been done"
    )


def account(points: SafePoints) -> str | None:
    """The opcode's last log entry; None when it had not begun."""
    if points.stopped_at is None:
        return None
    parts = [f"Canceled before {points.stopped_at}", f"done until then: {named(points.done)}"]
    if points.undone:
        parts.append(f"done to take it back: {named(points.undone)}")
    elif points.done:
        parts.append("nothing was taken back")
    return "; ".join(parts)


def named(steps: Sequence[str]) -> str:
    """A list of steps for a sentence."""
    if not steps:
        return "nothing"
    more = len(steps) - NAMED
    return ", ".join(steps[:NAMED]) + (f" and {more} more" if more > 0 else "")
