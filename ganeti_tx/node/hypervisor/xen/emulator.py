"""The QEMU that emulates the devices of a fully virtualised domain: xl starts it, and does not say why it has ended."""

from pathlib import Path

from ganeti_tx.runtime.files import IFiles

#: What xl says of one that has ended at once.
LOST = "error on QMP socket"
LIMIT = 1 << 16
MAX_SAID = 300


def last_word(files: IFiles, log: Path) -> str:
    """What it has said last, if that can be found, else where it may be."""
    try:
        lines = files.read(log, LIMIT).decode("utf-8", "replace").split("\n")
    except OSError:
        return f"its emulator has ended, {log} may say why"
    said = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    return f"its emulator has ended, and said in {log}: {said[:MAX_SAID]}"
