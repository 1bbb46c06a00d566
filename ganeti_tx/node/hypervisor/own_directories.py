"""That nobody else could have put anything where root looks for what instances have left, writes, and removes."""

from collections.abc import Iterable
from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.own_directory import directory_fault


def names_in(files: IFiles, directory: Path, *above: Path) -> list[str]:
    """What a driver keeps in its directory, which is below others of its own. @raise HypervisorError: as `check_directories`."""
    check_directories(files, (*above, directory))
    return sorted(files.listdir(directory)) if files.exists(directory) else []


def check_directories(files: IFiles, directories: Iterable[Path]) -> None:
    """@raise HypervisorError: one of them, if it is there, is a link, or somebody else's, or others may write to it."""
    for path in directories:
        try:
            fault = directory_fault(files, path)
        except OSError as error:
            raise HypervisorError(f"cannot look at {path}: {error.strerror}") from None
        if fault is not None:
            raise HypervisorError(fault)
