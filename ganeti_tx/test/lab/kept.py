"""What the lab keeps from one time to the next, outside the checkout: made once, known by what it was made of."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ganeti_tx.test.nodes.layers import LayerFailed, own_directory
from ganeti_tx.test.nodes.machine import NO_CLOCK, PATH

CACHE_VARIABLE = "GANETI_LAB_CACHE"
#: Seconds that something is kept after its last use.
KEPT = 30 * 24 * 3600.0
KEPT_SHORT = 24 * 3600.0
#: Seconds for one command that makes something.
MAKE_LIMIT = 600.0


class LabFailed(Exception):
    """The lab, or one of its machines, could not do what was asked."""


def cache_directory() -> Path:
    """Where it is kept: named by GANETI_LAB_CACHE, else the machine's place for root, the user's own for others."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/ganeti_tx-lab")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ganeti_tx-lab"


def kept(name: str, ingredients: Sequence[bytes], make: Callable[[Path], None], keep: float = KEPT) -> Path:
    """The directory that `make` fills, once for the same ingredients. @raise LabFailed: it cannot be made."""
    digest = hashlib.sha256()
    for each in ingredients:
        digest.update(hashlib.sha256(each).digest())
    cache = cache_directory()
    with locked(cache, name):
        forget_old(cache, name, keep)
        directory = cache / f"{name}-{digest.hexdigest()[:12]}"
        if not directory.exists():
            unfinished = cache / f"{name}.new"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(directory)
        os.utime(directory)
        return directory


@contextmanager
def locked(cache: Path, name: str) -> Iterator[None]:
    """Only one process at a time makes things of a name."""
    try:
        own_directory(cache)
    except LayerFailed as error:
        raise LabFailed(str(error)) from None
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def forget_old(cache: Path, name: str, keep: float) -> None:
    """Remove what nobody has used for long."""
    for path in cache.glob(f"{name}-*"):
        if path.is_dir() and path.stat().st_mtime < time.time() - keep:
            shutil.rmtree(path, ignore_errors=True)


def done(argv: Sequence[str], limit: float = MAKE_LIMIT, environment: Mapping[str, str] | None = None) -> str:
    """What a command said that must succeed. It cannot set the clock. @raise LabFailed: with the last that it said."""
    try:
        ended = subprocess.run(
            [*NO_CLOCK, *argv],
            env={**os.environ, "PATH": PATH, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LabFailed(f"{argv[0]} did not end within {limit:.0f} s") from None
    if ended.returncode != 0:
        last = "\n".join(ended.stdout.splitlines()[-10:])
        raise LabFailed(f"{argv[0]} ended with status {ended.returncode}: {last}")
    return ended.stdout
