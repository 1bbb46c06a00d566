"""When a token of the Remote API ends, as its line has it: "never" or a UTC time such as 2026-12-31T23:59:59Z."""

from datetime import UTC, datetime

NEVER = "never"
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def read_expiry(text: str) -> int | None:
    """Seconds since the epoch, None for never. @raise ValueError: it is no time."""
    if text == NEVER:
        return None
    try:
        return int(datetime.strptime(text, TIME_FORMAT).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise ValueError(f"{text!r} is no expiry: write {NEVER} or a UTC time such as 2026-12-31T23:59:59Z") from None


def expiry_text(expires: int | None) -> str:
    """The same back."""
    return NEVER if expires is None else datetime.fromtimestamp(expires, UTC).strftime(TIME_FORMAT)


def is_past(expires: int | None, now: float) -> bool:
    """Whether it has ended. @param now: seconds since the epoch"""
    return expires is not None and expires <= now
