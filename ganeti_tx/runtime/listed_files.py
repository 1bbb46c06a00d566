"""A file that is not the cluster's own, as it is here, on its way to the other nodes."""

from ganeti_tx.model.listed_files import MAX_FILE, MAX_TOGETHER, path_fault
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


def read_listed(files: IFiles, paths: Paths, path: str, room: int) -> tuple[bytes, int]:
    """What is in it, and its mode. `path` is the path on a node whose root is "/"; `room`: bytes that are left.

    @raise ValueError: it is none that may be sent. @raise OSError: it cannot be read.
    """
    if fault := path_fault(path):
        raise ValueError(fault)
    here = paths.root / path.lstrip("/")
    status = files.stat(here)
    if status.is_directory:
        raise ValueError("it is a directory")
    if status.size > MAX_FILE:
        raise ValueError(f"it has {status.size} bytes, more than {MAX_FILE}")
    if status.size > room:
        raise ValueError(f"all files together have more than {MAX_TOGETHER} bytes")
    return files.read(here, MAX_FILE), status.mode & 0o777
