"""What is put where on a machine: files with their texts, and links to the programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.installation.completion import bash_completion
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, GROUPS, USERS
from ganeti_tx.runtime.shipped import shipped

#: The first line of each file, of a script the second; by it one knows later what may be removed.
MARK = "# Put here by ganeti-setup; changes are lost when it runs again."
#: Where the units that are shipped say the programs are.
SHIPPED_PROGRAMS = "/opt/ganeti_tx/bin"
UNITS = "etc/systemd/system"
INIT_SCRIPT = "etc/init.d/ganeti"
SYSUSERS = "etc/sysusers.d/ganeti.conf"
TMPFILES = "etc/tmpfiles.d/ganeti.conf"
LINKS = "usr/local/sbin"
#: Where programs are found without a link.
SEARCHED = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


@frozen
class Contents:
    """By path below the root."""

    files: Mapping[str, str]
    links: Mapping[str, Path]


def contents(programs: Path, names: Sequence[str]) -> Contents:
    """Everything for a machine. @param programs: the directory of the programs. @param names: the programs"""
    files = {
        **{f"{UNITS}/{path.name}": path.read_text() for path in sorted(shipped("systemd").iterdir())},
        SYSUSERS: shipped("sysusers.d/ganeti.conf").read_text(),
        TMPFILES: tmpfiles(),
        "etc/bash_completion.d/ganeti": bash_completion([name for name in names if name.startswith("gnt-")]),
        INIT_SCRIPT: shipped("init.d/ganeti").read_text(),
        "etc/logrotate.d/ganeti": shipped("logrotate/ganeti").read_text(),
    }
    marked = {path: with_mark(text.replace(SHIPPED_PROGRAMS, str(programs))) for path, text in files.items()}
    linked = () if str(programs) in SEARCHED else names
    return Contents(marked, {f"{LINKS}/{name}": programs / name for name in linked})


def with_mark(text: str) -> str:
    """A text that tells where it comes from."""
    interpreter, rest = text.split("\n", 1) if is_script(text) else ("", text)
    return f"{interpreter}\n{MARK}\n{rest}" if interpreter else f"{MARK}\n{rest}"


def has_mark(text: str) -> bool:
    """Whether it comes from here."""
    return MARK in text.split("\n", 2)[: 2 if is_script(text) else 1]


def is_script(text: str) -> bool:
    """Whether it is to be run."""
    return text.startswith("#!")


def tmpfiles() -> str:
    """The directories that a node must have after each boot, for systemd-tmpfiles."""
    rows = DIRECTORY_MODES.items()
    lines = (f"d {_now(path)} {row.mode:04o} {USERS[row.owner]} {GROUPS[row.group]} -" for path, row in rows)
    return "".join(f"{line}\n" for line in lines)


def _now(path: str) -> str:
    """The older name of /run is warned about."""
    return path.removeprefix("/var") if path.startswith("/var/run/") else path
