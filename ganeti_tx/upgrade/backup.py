"""A copy of the data directory as it was before an upgrade."""

import os
import tarfile
import time
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

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if member.name in LEFT_OUT or not (member.isfile() or member.isdir() or member.issym()) else member

    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            for entry in sorted(paths.data_dir.iterdir()):
                archive.add(entry, entry.name, filter=kept)
        file.flush()
        os.fsync(file.fileno())
    return path
