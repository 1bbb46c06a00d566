"""What is put where on a machine: files with their texts, and links to the programs."""

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

from attrs import frozen

from ganeti_tx.installation.completion.scripts import PROGRAM, completion_files
from ganeti_tx.installation.manual.pages import manual_pages
from ganeti_tx.model.search_paths import INSTANCE_ALLOCATORS_FILE
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, GROUPS, USERS
from ganeti_tx.runtime.shipped import shipped

#: The first line of each file, of a script and of zsh's the second; by it one knows later what may be removed.
MARK = "# Put here by ganeti-setup; changes are lost when it runs again."
#: Where the units that are shipped say the programs are.
SHIPPED_PROGRAMS = "/opt/ganeti_tx/bin"
UNITS = "etc/systemd/system"
INIT_SCRIPT = "etc/init.d/ganeti"
CRON = "etc/cron.d/ganeti"
SYSUSERS = "etc/sysusers.d/ganeti.conf"
TMPFILES = "etc/tmpfiles.d/ganeti.conf"
LINKS = "usr/local/sbin"
#: Where scripts look for those that Ganeti has there, not on the search path.
LIB = "usr/lib/ganeti"
TOOLS = f"{LIB}/tools"
IN_LIB = frozenset({"daemon-util"})
IN_TOOLS = frozenset(
    {
        "burnin",
        "cfgupgrade",
        "cluster-merge",
        "confd-client",
        "fmtjson",
        "move-instance",
        "node-cleanup",
        "post-upgrade",
        "query-config",
        "sanitize-config",
        "users-setup",
    }
)
#: Where Ganeti has the scripts for network interfaces; that of Xen is linked from there by the administrator.
LIBRARY = "usr/lib/ganeti"
INTERFACE_SCRIPTS = ("kvm-ifup", "kvm-ifdown", "vif-ganeti")
MANUAL = "usr/local/share/man/man8"
PAGE = ".8"
#: Where programs are found without a link.
SEARCHED = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


@frozen
class Contents:
    """By path below the root."""

    files: Mapping[str, str]
    links: Mapping[str, Path]


def contents(
    directory: Path,
    programs: Mapping[str, EntryPoint],
    allocators: Sequence[str] | None = None,
    interpreter: Path = Path(sys.executable),
) -> Contents:
    """Everything for a machine.

    @param directory: where the programs are. @param programs: by name. @param interpreter: what runs them.
    @param allocators: the directories of instance allocators; None leaves what was said before.
    """
    files = {
        **{f"{UNITS}/{path.name}": path.read_text() for path in sorted(shipped("systemd").iterdir())},
        SYSUSERS: shipped("sysusers.d/ganeti.conf").read_text(),
        TMPFILES: tmpfiles(),
        **completion_files(programs, f"{SHIPPED_PROGRAMS}/{PROGRAM}"),
        CRON: shipped("cron.d/ganeti").read_text(),
        INIT_SCRIPT: shipped("init.d/ganeti").read_text(),
        **{f"{LIBRARY}/{name}": interface_script(name, interpreter) for name in INTERFACE_SCRIPTS},
        "etc/logrotate.d/ganeti": shipped("logrotate/ganeti").read_text(),
        **({} if allocators is None else {INSTANCE_ALLOCATORS_FILE: "".join(f"{each}\n" for each in allocators)}),
        **{f"{MANUAL}/{name}{PAGE}": text for name, text in manual_pages(programs).items()},
    }
    marked = {path: with_mark(path, text.replace(SHIPPED_PROGRAMS, str(directory))) for path, text in files.items()}
    linked = () if str(directory) in SEARCHED else programs
    links = {f"{LINKS}/{name}": directory / name for name in linked}
    for place, there in ((LIB, IN_LIB), (TOOLS, IN_TOOLS)):
        links |= {f"{place}/{name}": directory / name for name in programs if name in there}
    return Contents(marked, links)


def interface_script(name: str, interpreter: Path) -> str:
    """One of them, which begins with what runs this program."""
    return shipped(f"network/{name}").read_text().replace(f"{SHIPPED_PROGRAMS}/python3", str(interpreter))


def with_mark(path: str, text: str) -> str:
    """A text that tells, in a comment of its own language, where it comes from."""
    if path.endswith(PAGE):
        return f'.\\" {MARK}\n{text}'
    interpreter, rest = text.split("\n", 1) if _first_stays(text) else ("", text)
    return f"{interpreter}\n{MARK}\n{rest}" if interpreter else f"{MARK}\n{rest}"


def has_mark(text: str) -> bool:
    """Whether it comes from here."""
    first = text.split("\n", 2)[: 2 if _first_stays(text) else 1]
    return MARK in (line.removeprefix('.\\" ') for line in first)


def is_script(text: str) -> bool:
    """Whether it is to be run."""
    return text.startswith("#!")


def _first_stays(text: str) -> bool:
    """Whether the first line counts as such: for a script, and for zsh, which reads there what a file is about."""
    return is_script(text) or text.startswith("#compdef ")


def tmpfiles() -> str:
    """The directories that a node must have after each boot, for systemd-tmpfiles."""
    rows = DIRECTORY_MODES.items()
    lines = (f"d {_now(path)} {row.mode:04o} {USERS[row.owner]} {GROUPS[row.group]} -" for path, row in rows)
    return "".join(f"{line}\n" for line in lines)


def _now(path: str) -> str:
    """The older name of /run is warned about."""
    return path.removeprefix("/var") if path.startswith("/var/run/") else path
