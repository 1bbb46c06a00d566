"""Domains as `xl list` tells of them, and `xl uptime`."""

import re
from collections.abc import Mapping

from attrs import frozen

from ganeti_tx.errors import HypervisorError

HEADING = ["Name", "ID", "Mem", "VCPUs", "State", "Time(s)"]
RUNNABLE, PAUSED, SHUTDOWN, CRASHED, DYING = "runnable", "paused", "shutdown", "crashed", "dying"
#: The letters of the state column, in its order (xl(1), "list").
STATES: Mapping[str, str] = {
    "r": "running", "b": "blocked", "p": PAUSED, "s": SHUTDOWN, "c": CRASHED, "d": DYING,
}  # fmt: skip
#: Reasons why a domain has shut down (xen/include/public/sched.h), of those that matter here.
POWEROFF, REBOOT, SUSPEND = 0, 1, 2
_LINE = re.compile(
    r"(?P<name>\S.*?)\s+(?P<id>\d+)\s+(?P<memory>\d+)\s+(?P<vcpus>\d+)\s+(?P<state>[rbpscd-]{6})\s+(?P<seconds>\d+\.\d+)"
    r"(\s+(?P<uuid>[0-9a-f-]{36})\s+(?P<reason>-|\d+)(\s.*)?)?\s*"
)


@frozen
class Domain:
    """A line of the list: memory in MiB, processor time in seconds; uuid and reason (of a shutdown) are in the long list only."""

    name: str
    id: int
    memory: int
    vcpus: int
    state: str
    seconds: float
    uuid: str = ""
    reason: int | None = None


def parse_list(text: str) -> list[Domain]:
    """The lines below the heading. @raise HypervisorError: there is none, or a line cannot be read."""
    heading, *lines = text.splitlines() or [""]
    if heading.split()[: len(HEADING)] != HEADING:
        raise HypervisorError(f"xl list begins with {heading[:200]!r}, not with its heading")
    return [_domain(line) for line in lines if line.strip()]


def _domain(line: str) -> Domain:
    found = _LINE.fullmatch(line)
    if found is None:
        raise HypervisorError(f"cannot read this line of xl list: {line[:200]!r}")
    reason = found["reason"]
    return Domain(
        found["name"],
        int(found["id"]),
        int(found["memory"]),
        int(found["vcpus"]),
        _state(found["state"]),
        float(found["seconds"]),
        found["uuid"] or "",
        int(reason) if reason and reason != "-" else None,
    )


def _state(letters: str) -> str:
    """The last letter set tells most: one that was shut down may also be dying."""
    return next((STATES[letter] for letter in reversed(letters) if letter in STATES), RUNNABLE)


def parse_uptime(text: str) -> dict[str, str]:
    """By name. @raise HypervisorError: not what xl writes."""
    heading, *lines = text.splitlines() or [""]
    if heading.split() != ["Name", "ID", "Uptime"]:
        raise HypervisorError(f"xl uptime begins with {heading[:200]!r}, not with its heading")
    found = (re.fullmatch(r"(\S+)\s+\d+\s+(\S.*?)\s*", line) for line in lines if line.strip())
    return {match[1]: match[2] for match in found if match is not None}
