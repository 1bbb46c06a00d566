"""Files of one entry a line, with comments and blank lines: the form of Ganeti's users file."""

from collections.abc import Iterator


class LineError(Exception):
    """A file cannot be taken; the text names the line, never what a secret is."""


def entries(data: bytes) -> Iterator[tuple[int, str]]:
    """Each entry with the number of its line. @raise LineError: a line is not UTF-8."""
    for number, raw in enumerate(data.split(b"\n"), 1):
        try:
            line = raw.decode().strip()
        except UnicodeDecodeError:
            raise LineError(f"line {number}: not UTF-8 text") from None
        if line and not line.startswith("#"):
            yield number, line
