"""Files of root's that name a process."""

from pathlib import Path

from ganeti_tx.runtime.files import IFiles

LIMIT = 100


def pid_in(files: IFiles, path: Path) -> int | None:
    """The process that a file names; None when there is no such file, it cannot be read, or it names none."""
    try:
        text = files.read(path, LIMIT).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdigit() else None
