"""The machines that are named on the command line or in a file."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ganeti_tx.errors import GanetiError
from ganeti_tx.runtime.regular_file import read_regular

MAX_FILE = 1024 * 1024
MAX_HOSTS = 10_000
#: A name or an address; what begins with a dash would be an option of ssh.
HOST = re.compile(r"[A-Za-z0-9_:\[][A-Za-z0-9_.:%\[\]-]*")


class ListrunnerError(GanetiError):
    """What was asked for cannot be done; the text says why."""


def hosts_of_file(path: Path) -> list[str]:
    """One a line; empty lines and what follows a C{#} are left out. @raise ListrunnerError: it is no such file."""
    try:
        content = read_regular(path, MAX_FILE)
    except OSError as error:
        raise ListrunnerError(f"cannot read {path}: {error.strerror}") from None
    return checked(words_of(content.decode("utf-8", "backslashreplace")), str(path))


def words_of(text: str) -> Iterator[str]:
    """The lines without their comments."""
    return (word for line in text.splitlines() if (word := line.partition("#")[0].strip()))


def checked(names: Iterable[str], where: str) -> list[str]:
    """Each once, in order. @raise ListrunnerError: one is none, or there are none or too many."""
    found = list(dict.fromkeys(names))
    for name in found:
        if not HOST.fullmatch(name):
            raise ListrunnerError(f"{where}: not the name or address of a machine: {name!r}")
    if not 0 < len(found) <= MAX_HOSTS:
        raise ListrunnerError(f"{where} names {len(found)} machines; allowed are 1 to {MAX_HOSTS}")
    return found
