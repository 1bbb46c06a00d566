"""Which boot of this machine it is."""

from pathlib import Path

from ganeti_tx.runtime.files import IFiles

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id(files: IFiles) -> str:
    """What is another after each boot of this machine."""
    return files.read(BOOT_ID, 100).decode("ascii", "replace").strip() if files.exists(BOOT_ID) else ""
