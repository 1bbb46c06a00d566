"""Which QEMU this node has: the program of the built-in parameters, or another one, each asked once."""

import re

from attrs import define, field

from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, KvmParams, find_program
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult

#: Seconds until it has told: after a boot all that it stands on is read from the disk.
LIMIT = 30.0
_VERSION = re.compile(r"\bQEMU\b.* version (\d+(?:\.\d+)*)")


@define
class QemuVersion:
    """One that was not told is asked for again the next time."""

    files: IFiles
    runner: IProcessRunner
    _known: dict[str, str] = field(factory=dict, init=False)

    async def told(self) -> str:
        """Such as "7.2.22"; empty when there is no program, or it does not tell."""
        program = find_program(DEFAULT_PROGRAM, self.files.exists) or DEFAULT_PROGRAM
        await self._ask(program)
        return self._known.get(program, "")

    async def faults(self, params: KvmParams) -> list[str]:
        """What is wrong with the program of an instance, when it is there."""
        program = find_program(params.kvm_path, self.files.exists)
        if program is None or (result := await self._ask(program)) is None or program in self._known:
            return []
        why = "prints no version" if result.succeeded else result.describe()
        return [f"kvm_path: {program} is no QEMU that runs on this node: {program} --version {why}"]

    async def _ask(self, program: str) -> ProcessResult | None:
        """How it answered, if it had to be asked."""
        if program in self._known:
            return None
        result = await self.runner.run([program, "--version"], timeout=LIMIT)
        found = _VERSION.search(result.stdout.decode("utf-8", "replace"))
        if result.succeeded and found:
            self._known[program] = found[1]
        return result
