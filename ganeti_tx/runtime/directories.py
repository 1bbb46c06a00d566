"""Making the directories of a node that are all one user's."""

from pathlib import Path

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, PathMode
from ganeti_tx.runtime.paths import Paths

#: Directories the administrator owns: created where they are missing, never changed.
ADMINISTRATORS_DIRECTORIES = ("/etc/ganeti",)
ADMINISTRATORS_MODE = 0o755


def ensure_directories(paths: Paths, files: IFiles) -> None:
    """Create every directory with its mode; repair what differs.

    @raise OSError: one could not be created or changed.
    """
    for path in ADMINISTRATORS_DIRECTORIES:
        files.mkdir(paths.root / path.lstrip("/"), ADMINISTRATORS_MODE)
    for path in DIRECTORY_MODES:  # the way there is open to all, as the programs of several users meet in it
        files.mkdir((paths.root / path.lstrip("/")).parent, ADMINISTRATORS_MODE)
    for path, wanted in DIRECTORY_MODES.items():
        _ensure_directory(files, paths.root / path.lstrip("/"), wanted)


def ensure_lock_directory(paths: Paths, files: IFiles) -> None:
    """For who may come before the daemons after a boot. @raise OSError: it cannot be created or changed."""
    files.mkdir(paths.lock_dir.parent, ADMINISTRATORS_MODE)
    _ensure_directory(files, paths.lock_dir, DIRECTORY_MODES[str(Paths().lock_dir)])


def _ensure_directory(files: IFiles, path: Path, wanted: PathMode) -> None:
    files.mkdir(path, wanted.mode)
    if files.stat(path).mode != wanted.mode:
        files.set_mode(path, wanted.mode)
