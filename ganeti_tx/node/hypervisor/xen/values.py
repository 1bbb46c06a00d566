"""Values as xl reads them from a domain's configuration (xl.cfg(5))."""

from collections.abc import Sequence

from ganeti_tx.errors import HypervisorError

QUOTES = ("'", '"')


def line(key: str, value: str | int | Sequence[str]) -> str:
    """One setting. @raise HypervisorError: a text that cannot be written down."""
    if isinstance(value, str):
        return f"{key} = {quoted(key, value)}"
    if isinstance(value, int):
        return f"{key} = {int(value)}"
    return f"{key} = [{', '.join(quoted(key, each) for each in value)}]"


def unwritable(key: str, text: str) -> str | None:
    """Why xl has no way to write a text: it has quotes of both kinds, or a line's end."""
    if text.isprintable() and not all(mark in text for mark in QUOTES):
        return None
    why = "it has both ' and \"" if text.isprintable() else "it is no line of text"
    return f"{key}: {text!r} cannot be written into a domain's configuration: {why}"


def quoted(key: str, text: str) -> str:
    """A text in quotes that it does not have. @raise HypervisorError: see `unwritable`."""
    if fault := unwritable(key, text):
        raise HypervisorError(fault)
    mark = next(mark for mark in QUOTES if mark not in text)
    escaped = text.replace("\\", "\\\\")
    return f"{mark}{escaped}{mark}"
