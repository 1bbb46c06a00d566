"""Instance allocators as programs on this machine (Ganeti 3.0 allocator table, invocation)."""

import stat
from pathlib import Path

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: What a program's name is followed by in the name of the file that says which protocols it speaks.
PROTOCOLS = ".ganeti_api_version"
PROTOCOLS_LIMIT = 4096


#: Bytes of the file that names the search path.
PATH_LIMIT = 64 * 1024


def search_path(files: IFiles, paths: Paths) -> tuple[Path, ...]:
    """Where they are looked for on this machine, first found wins; setting it up can have named other directories, a line each."""
    if not files.exists(paths.iallocator_search_file):
        return paths.iallocator_search_path
    lines = files.read(paths.iallocator_search_file, PATH_LIMIT).decode("utf-8", "replace").splitlines()
    return tuple(paths.root / line.strip().lstrip("/") for line in lines if line.strip() and not line.startswith("#"))


def find_allocator(files: IFiles, paths: Paths, name: str) -> Path | None:
    """The program of that name, the first one on the search path; None when there is none."""
    if Path(name).name != name:
        return None
    return next((each / name for each in search_path(files, paths) if _is_program(files, each / name)), None)


def allocator_fault(files: IFiles, paths: Paths, name: str) -> str | None:
    """Why there is no allocator of that name; None when there is one."""
    if Path(name).name != name:
        return f"invalid instance allocator {name!r}: give the name of a program, without a directory"
    if find_allocator(files, paths, name) is not None:
        return None
    searched = ", ".join(map(str, search_path(files, paths)))
    return f"there is no instance allocator {name!r}; looked for an executable program in {searched}"


def protocols_of(files: IFiles, program: Path) -> list[str]:
    """The versions of the protocol that a program says it speaks, a line each in the file beside it; none where it says nothing."""
    beside = program.with_name(program.name + PROTOCOLS)
    if not files.exists(beside):
        return []
    return files.read(beside, PROTOCOLS_LIMIT).decode("utf-8", "replace").split()


def _is_program(files: IFiles, path: Path) -> bool:
    try:
        status = files.stat(path)
    except OSError:
        return False
    return not status.is_directory and bool(status.mode & stat.S_IXUSR)
