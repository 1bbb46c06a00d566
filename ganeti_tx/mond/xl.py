"""Xen's domains as `xl` tells of them."""

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

LIST = ("xl", "list")
UPTIME = ("xl", "uptime")
#: Seconds that one command may take.
TIMEOUT = 15.0
DOMAIN_0 = "Domain-0"
#: The letters of the state column, in its order (xl(1), "list").
STATES: Mapping[str, str] = {
    "r": "running", "b": "blocked", "p": "paused", "s": "shutdown", "c": "crashed", "d": "dying",
}  # fmt: skip
_STATE = re.compile(r"[rbpscd-]{6}")


@frozen
class Domain:
    """A line of the list: memory in MiB, processor time in seconds."""

    name: str
    id: int
    memory: int
    vcpus: int
    state: str
    seconds: float


async def domains(runner: IProcessRunner) -> list[Domain]:
    """All domains. @raise HypervisorError: xl does not tell."""
    return parse_list(await _said(runner, LIST))


async def uptimes(runner: IProcessRunner) -> dict[str, str]:
    """How long each domain is up, in xl's words. @raise HypervisorError: xl does not tell."""
    return parse_uptime(await _said(runner, UPTIME))


async def _said(runner: IProcessRunner, argv: Sequence[str]) -> str:
    result = await runner.run(argv, timeout=TIMEOUT)
    if result.status == NOT_FOUND:
        raise HypervisorError("xl is not installed, though a Xen hypervisor is enabled in this cluster")
    if not result.succeeded or result.truncated:
        raise HypervisorError(f"{' '.join(argv)} {result.describe()}")
    return result.stdout.decode("utf-8", "replace")


def parse_list(text: str) -> list[Domain]:
    """The lines below the heading. @raise HypervisorError: there is none, or a line cannot be read."""
    heading, *lines = text.splitlines() or [""]
    if heading.split() != ["Name", "ID", "Mem", "VCPUs", "State", "Time(s)"]:
        raise HypervisorError(f"xl list begins with {heading[:200]!r}, not with its heading")
    return [_domain(line) for line in lines if line.strip()]


def _domain(line: str) -> Domain:
    try:
        name, number, memory, vcpus, state, seconds = line.rsplit(maxsplit=5)
        if _STATE.fullmatch(state) is None:
            raise ValueError
        return Domain(name, int(number), int(memory), int(vcpus), _state(state), float(seconds))
    except ValueError:
        raise HypervisorError(f"cannot read this line of xl list: {line[:200]!r}") from None


def _state(letters: str) -> str:
    """The last letter set tells most: one that was shut down may also be dying."""
    return next((STATES[letter] for letter in reversed(letters) if letter in STATES), "runnable")


def parse_uptime(text: str) -> dict[str, str]:
    """By name. @raise HypervisorError: not what xl writes."""
    heading, *lines = text.splitlines() or [""]
    if heading.split() != ["Name", "ID", "Uptime"]:
        raise HypervisorError(f"xl uptime begins with {heading[:200]!r}, not with its heading")
    found = (re.fullmatch(r"(\S+)\s+\d+\s+(\S.*?)\s*", line) for line in lines if line.strip())
    return {match[1]: match[2] for match in found if match is not None}
