"""Which QEMU this node has: the program of the built-in parameters, asked once."""

import re

from attrs import define

from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, find_program
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

#: Seconds until it has told: after a boot all that it stands on is read from the disk.
LIMIT = 30.0
_VERSION = re.compile(r"version (\d+(?:\.\d+)*)")


@define
class QemuVersion:
    """One that was not told is asked for again the next time."""

    files: IFiles
    runner: IProcessRunner
    _known: str = ""

    async def told(self) -> str:
        """Such as "7.2.22"; empty when there is no program, or it does not tell."""
        if not self._known:
            program = find_program(DEFAULT_PROGRAM, self.files.exists) or DEFAULT_PROGRAM
            result = await self.runner.run([program, "--version"], timeout=LIMIT)
            found = _VERSION.search(result.stdout.decode("utf-8", "replace"))
            self._known = found[1] if result.succeeded and found else ""
        return self._known
