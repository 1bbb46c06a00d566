"""The program xl. A domain is always known to it by its number, so that none is hit that got a name meanwhile."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.xen.listed import Domain, parse_list
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner, ProcessResult

XL = "xl"
LOOK_TIMEOUT = 30.0
#: Seconds in which a domain is made or ended, its disks and interfaces connected or let go.
CHANGE_TIMEOUT = 180.0
#: What libxl puts before each line: its own source, and the domain's number.
_PLACE = re.compile(r"^(libxl|xc|xl): (error|critical): (\S+:\d+:\S+: )?(Domain \d+:)?")
#: How it tells of a script, and then what that has put into Xen's store.
_ENDED = re.compile(r"exited with error status \d+$")
SCRIPT = "script: "
MAX_SAID = 500


@frozen
class Xl:
    """Looks at domains and changes them."""

    runner: IProcessRunner

    async def domains(self) -> list[Domain]:
        """All, also Xen's own. @raise HypervisorError: xl does not tell."""
        return parse_list(await self._said("list", "-v"))

    async def info(self) -> Mapping[str, str]:
        """What it tells of this node. @raise HypervisorError: it does not."""
        lines = (line.partition(":") for line in (await self._said("info")).splitlines())
        return {name.strip(): value.strip() for name, _, value in lines}

    async def create(self, config: Path, paused: bool) -> None:
        """Make a domain. @raise HypervisorError: why not; nothing of it is there."""
        await self._do("create", *(["-p"] if paused else []), str(config))

    async def destroy(self, domain: int) -> None:
        """End it at once. @raise HypervisorError: it is there still."""
        await self._do("destroy", str(domain))

    async def ask(self, what: str, domain: int, limit: float) -> bool:
        """Ask its guest for a `shutdown` or `reboot`; xl waits until that has heard it. False: it has not."""
        result = await self.runner.run([XL, what, "-F", str(domain)], timeout=limit)
        return result.succeeded

    async def unpause(self, domain: int) -> None:
        """Let it run."""
        await self._do("unpause", str(domain))

    async def set_memory(self, domain: int, memory: int) -> None:
        """Have its guest come to have so many MiB."""
        await self._do("mem-set", str(domain), f"{memory}m")

    async def _said(self, *words: str) -> str:
        result = await self.runner.run([XL, *words], timeout=LOOK_TIMEOUT)
        self._check(words, result)
        return result.stdout.decode("utf-8", "replace")

    async def _do(self, *words: str) -> None:
        self._check(words, await self.runner.run([XL, *words], timeout=CHANGE_TIMEOUT))

    @staticmethod
    def _check(words: Sequence[str], result: ProcessResult) -> None:
        if result.status == NOT_FOUND:
            raise HypervisorError("the program xl is not on this node; install xen-utils, and boot the node with Xen")
        if not result.succeeded or result.truncated:
            raise HypervisorError(f"xl {words[0]} failed: {reason(result)}")


def reason(result: ProcessResult) -> str:
    """The first that was wrong, what follows follows from it; of a script that failed what that has said itself."""
    lines = result.stderr[: 1 << 16].decode("utf-8", "replace").splitlines()
    wrong = [line[place.end() :].strip() for line in lines if (place := _PLACE.match(line)) is not None]
    if not wrong:
        return result.describe()
    if _ENDED.search(wrong[0]) is not None and len(wrong) > 1 and wrong[1].startswith(SCRIPT):
        return wrong[1].removeprefix(SCRIPT)[:MAX_SAID]
    return wrong[0][:MAX_SAID]
