"""The words by which processes were started."""

from pathlib import Path


def command_line(process: int) -> list[bytes]:
    """A process's words; none when it is gone: whoever lists processes sees some that end meanwhile."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
