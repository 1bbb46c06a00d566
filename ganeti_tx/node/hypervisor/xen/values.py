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


def quoted(key: str, text: str) -> str:
    """A text in quotes that it does not have; xl has no way to write one that has both kinds, or a line's end."""
    if not text.isprintable():
        raise HypervisorError(f"{key}: {text!r} cannot be written into a domain's configuration: it is no line of text")
    mark = next((mark for mark in QUOTES if mark not in text), None)
    if mark is None:
        raise HypervisorError(f"{key}: {text!r} cannot be written into a domain's configuration: it has both ' and \"")
    escaped = text.replace("\\", "\\\\")
    return f"{mark}{escaped}{mark}"
