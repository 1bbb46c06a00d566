"""LXC's programs, which know a container by a directory and a name."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner, ProcessResult

COMMAND_TIMEOUT = 30.0
#: Seconds more than LXC itself was given.
MORE = 30.0
_STATE = re.compile(r"^State:\s+(\w+)$", re.M)
_PID = re.compile(r"^PID:\s+(\d+)$", re.M)
_CPU = re.compile(r"^CPU use:\s+([\d.]+) seconds$", re.M)
_STOPPED = "STOPPED"


class Seen(NamedTuple):
    """A container that runs: its first process, and the seconds of processor time that it had."""

    pid: int
    cpu_seconds: float


@frozen
class Containers:
    """Starts them, looks at them and ends them."""

    runner: IProcessRunner

    async def version(self) -> str:
        """@raise HypervisorError: it is not on this node."""
        result = await self.runner.run(["lxc-start", "--version"], timeout=COMMAND_TIMEOUT)
        if result.status == NOT_FOUND:
            raise HypervisorError("the program lxc-start is not on this node; install lxc")
        if not result.succeeded:
            raise HypervisorError(f"lxc-start {result.describe()}")
        return result.stdout.decode("ascii", "replace").strip()

    async def start(self, layout: ContainerLayout, timeout: float) -> None:
        """Bring it to running within so many seconds. @raise HypervisorError: it may still be coming up."""
        result = await self.run(
            ["lxc-start", *_of(layout), "-d", "-f", str(layout.config), "-o", str(layout.log), "-l", "ERROR"],
            timeout + MORE,
        )
        if not result.succeeded:
            raise HypervisorError(f"lxc-start {result.describe()}")
        waited = await self.run(["lxc-wait", *_of(layout), "-s", "RUNNING", "-t", f"{timeout:.0f}"], timeout + MORE)
        if not waited.succeeded:
            raise HypervisorError(f"it does not run after {timeout:.0f} seconds (startup_timeout)")

    async def look(self, layout: ContainerLayout) -> Seen | None:
        """What of it runs. @raise HypervisorError: LXC does not tell."""
        result = await self.run(["lxc-info", *_of(layout), "-s", "-p", "-S"], COMMAND_TIMEOUT)
        text = result.stdout.decode("ascii", "replace")
        state, pid, cpu = _STATE.search(text), _PID.search(text), _CPU.search(text)
        if not result.succeeded or state is None:
            raise HypervisorError(f"lxc-info {result.describe()}")
        if state[1] == _STOPPED or pid is None:
            return None
        return Seen(int(pid[1]), float(cpu[1]) if cpu else 0.0)

    async def power_off(self, layout: ContainerLayout, timeout: float) -> None:
        """Ask it to, and wait so many seconds; whether it does is seen by who looks."""
        await self.run(["lxc-stop", *_of(layout), "--nokill", "-t", f"{max(1, round(timeout))}"], timeout + MORE)

    async def kill(self, layout: ContainerLayout) -> None:
        """End everything in it; whether that was done is seen by who looks."""
        await self.run(kill_argv(layout), COMMAND_TIMEOUT)

    async def run(self, argv: Sequence[str], timeout: float) -> ProcessResult:
        """One of the programs."""
        return await self.runner.run(argv, timeout=timeout)


def kill_argv(layout: ContainerLayout) -> list[str]:
    """What ends one at once."""
    return ["lxc-stop", *_of(layout), "--kill"]


def _of(layout: ContainerLayout) -> list[str]:
    return ["-P", str(layout.above), "-n", layout.name]
