"""Instance allocators as programs on this machine (Ganeti 3.0 allocator table, invocation)."""

import stat
from pathlib import Path

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


def find_allocator(files: IFiles, paths: Paths, name: str) -> Path | None:
    """The program of that name, the first one on the search path; None when there is none."""
    if Path(name).name != name:
        return None
    return next((each / name for each in paths.iallocator_search_path if _is_program(files, each / name)), None)


def allocator_fault(files: IFiles, paths: Paths, name: str) -> str | None:
    """Why there is no allocator of that name; None when there is one."""
    if Path(name).name != name:
        return f"invalid instance allocator {name!r}: give the name of a program, without a directory"
    if find_allocator(files, paths, name) is not None:
        return None
    searched = ", ".join(map(str, paths.iallocator_search_path))
    return f"there is no instance allocator {name!r}; looked for an executable program in {searched}"


def _is_program(files: IFiles, path: Path) -> bool:
    try:
        status = files.stat(path)
    except OSError:
        return False
    return not status.is_directory and bool(status.mode & stat.S_IXUSR)
