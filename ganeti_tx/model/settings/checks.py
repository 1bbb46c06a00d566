"""What single settings admit: each takes the parameter's name and the value that was given, and gives what to store."""

import re
from collections.abc import Sequence
from posixpath import normpath

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.volume_names import volume_group_fault

MAC_PREFIX = re.compile(r"([0-9a-f]{2}:){2}[0-9a-f]{2}", re.IGNORECASE)
URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s]+", re.IGNORECASE)
TOOL = re.compile(r"[A-Za-z0-9_.+-]{1,100}")


def at_least_one(name: str, number: int) -> int:
    """A number that is not zero."""
    if number < 1:
        raise OpPrereqError(f"{name} must be at least 1, not {number}", ECode.INVAL)
    return number


def directory(name: str, path: str) -> str:
    """A directory as it is written down, or nothing, which switches its kind of storage off.

    Whether the nodes allow it, `gnt-cluster verify` tells, and each of them when a disk is made.
    """
    if path and not path.startswith("/"):
        raise OpPrereqError(f"{name}: {path!r} is no absolute path", ECode.INVAL)
    return normpath(f"/{path.lstrip('/')}") if path else path


def image(name: str, given: str) -> str:
    """Where a helper machine's image is, or nothing."""
    if given and not given.startswith("/") and not URL.fullmatch(given):
        raise OpPrereqError(f"{name}: {given!r} is neither an absolute path nor a URL", ECode.INVAL)
    return given


def volume_group(name: str, given: str) -> str | None:
    """The name of a volume group, or none, which switches storage in volumes off."""
    if given and (fault := volume_group_fault(name, given)):
        raise OpPrereqError(fault, ECode.INVAL)
    return given or None


def program(name: str, path: str) -> str | None:
    """A program by its path, or none."""
    if path and not path.startswith("/"):
        raise OpPrereqError(f"{name}: {path!r} is no absolute path", ECode.INVAL)
    return path or None


def mac_prefix(name: str, given: str) -> str:
    """The first half of a MAC address."""
    if not MAC_PREFIX.fullmatch(given):
        raise OpPrereqError(f"{name} must have the form aa:bb:cc, not {given!r}", ECode.INVAL)
    return given.lower()


def tools(name: str, programs: Sequence[str]) -> tuple[str, ...]:
    """The names of compression tools, without paths."""
    for program in programs:
        if not TOOL.fullmatch(program):
            raise OpPrereqError(f"{name}: {program!r} is no plain name of a program", ECode.INVAL)
    return tuple(programs)
