"""That nobody else could have put anything where root keeps what it knows of disks."""

from pathlib import Path

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.own_directory import directory_fault


def check_own(files: IFiles, directory: Path) -> None:
    """@raise BlockDeviceError: it is there, and is a link, or somebody else's, or others may write to it."""
    try:
        fault = directory_fault(files, directory)
    except OSError as error:
        raise BlockDeviceError(f"cannot look at {directory}: {error.strerror}") from None
    if fault is not None:
        raise BlockDeviceError(fault)
