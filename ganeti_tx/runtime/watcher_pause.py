"""What the file says by which the watcher is paused: the end, in seconds since the epoch."""

import math


def pause_end(text: str, now: float) -> float | None:
    """The end of the pause; None when there is none, or it is over."""
    try:
        end = float(text)
    except ValueError:
        return None
    return end if math.isfinite(end) and end > now else None
