"""Where the versions of this program are: each in a directory of its own, beside each other.

The one that is told apart by no number, /opt/ganeti_tx, may be any; /opt/ganeti_tx-0.2.0 is of the version 0.2.0.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError

VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}")
PROGRAM = "ganeti-upgrade"


def checked(version: str) -> str:
    """@raise BootstrapError: it is no version"""
    if VERSION.fullmatch(version) is None:
        raise BootstrapError(f"Could not parse version string {version}")
    return version


def is_older(version: str) -> bool:
    """Whether one that is a version came before this one."""
    [its, this] = ([int(number) for number in each.split(".")] for each in (version, __version__))
    return its < this


def own() -> Path:
    """The directory of this one."""
    return Path(sys.prefix)


def places(version: str, prefix: Path, own_version: str = __version__) -> Iterator[Path]:
    """The directories in which a version may be. @param prefix: that of `own_version`."""
    stem = prefix.name.removesuffix(f"-{own_version}")
    if version == own_version:
        yield prefix
    yield prefix.with_name(f"{stem}-{version}")
    yield prefix.with_name(stem)


def program(prefix: Path, name: str = PROGRAM) -> str:
    """A program of an installation."""
    return str(prefix / "bin" / name)
