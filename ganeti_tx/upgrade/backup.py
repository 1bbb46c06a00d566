"""A copy of the data directory as it was before an upgrade."""

import os
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ganeti_tx.runtime.paths import Paths

#: Left out: what is not the cluster's state, or very large.
LEFT_OUT = ("export", "queue/archive")
DIRECTORY = "var/backups"


def back_up(paths: Paths, version: str) -> Path:
    """Gives where it is. @raise OSError: it cannot be written."""
    directory = paths.root / DIRECTORY
    directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    path = directory / f"ganeti{version}-{time.strftime('%Y-%m-%d_%H_%M_%S')}-{os.getpid()}.tar"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            add_all(archive, paths.data_dir, entries(paths.data_dir))
        file.flush()
        os.fsync(file.fileno())
    return path


def entries(top: Path) -> Iterator[str]:
    """What is to be copied, by its path below, directories before what is in them. @raise OSError: one cannot be listed."""
    for directory, below, files in os.walk(top, onerror=unless_gone):
        paths = {name: os.path.relpath(os.path.join(directory, name), top) for name in (*below, *files)}
        below[:] = sorted(name for name in below if paths[name] not in LEFT_OUT)
        yield from (paths[name] for name in (*below, *sorted(files)))


def unless_gone(error: OSError) -> None:
    """@raise OSError: what was met when a directory was listed."""
    if not isinstance(error, FileNotFoundError):
        raise error


def add_all(archive: tarfile.TarFile, top: Path, names: Iterable[str]) -> None:
    """Add what is still there: the daemons run, and move jobs to the archive."""
    for name in names:
        with suppress(FileNotFoundError):
            archive.add(top / name, name, recursive=False, filter=kept)


def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """All but sockets and pipes."""
    return member if member.isfile() or member.isdir() or member.issym() else None
