"""Running instance allocators, on the master (Ganeti 3.0 allocator table, invocation)."""

from itertools import count
from pathlib import Path

from attrs import define, field

from ganeti_tx.allocator import first_protocol
from ganeti_tx.allocator.first_protocol import as_first
from ganeti_tx.errors import OpExecError
from ganeti_tx.model.versions import IALLOCATOR_VERSION
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.runtime.allocators import find_allocator, protocols_of
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

PREFIX = "ganeti-iallocator."
#: Seconds that an allocator may take: less than the caller waits for the answer.
TIME_LIMIT = IallocatorRunner.timeout - 60
#: Bytes that it may print.
OUTPUT_LIMIT = 8 * 1024 * 1024
#: Characters of what one said that failed.
TOLD = 8 * 1024


@define
class Allocators:
    """Finds a program on the search path and runs it with the document in a file that nobody else can read."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    _numbers: "count[int]" = field(factory=lambda: count(1))

    @answers(IallocatorRunner)
    async def run(self, call: IallocatorRunner) -> str:
        """What it printed. @raise OpExecError: there is no such program, or it failed."""
        program = find_allocator(self.files, self.paths, call.allocator)
        if program is None:
            raise OpExecError(f"iallocator module '{call.allocator[:200]}' not found in the search path")
        first = self._wants_first(call, program)
        path = self.paths.run_dir / f"{PREFIX}{next(self._numbers)}"
        idata = as_first(call.idata) if first else call.idata
        await self.files.write_atomic(path, idata.encode(), 0o600, sync=False)
        try:
            return await self._run(call, [str(program), str(path), *([] if first else options(call))])
        finally:
            self.files.remove(path)

    def _wants_first(self, call: IallocatorRunner, program: Path) -> bool:
        """Whether the program speaks the first protocol only. @raise OpExecError: it speaks none that is known here."""
        spoken = protocols_of(self.files, program)
        if not spoken or str(IALLOCATOR_VERSION) in spoken:
            return False
        if str(first_protocol.VERSION) not in spoken:
            raise OpExecError(
                f"iallocator module '{call.allocator}' speaks protocol {', '.join(spoken)[:200]}; known are"
                f" {IALLOCATOR_VERSION} and {first_protocol.VERSION}"
            )
        return True

    async def _run(self, call: IallocatorRunner, argv: list[str]) -> str:
        result = await self.runner.run(argv, timeout=TIME_LIMIT, output_limit=OUTPUT_LIMIT)
        said = (result.stdout + result.stderr).decode("utf-8", "replace").strip()[:TOLD]
        if not result.succeeded:
            how = result.describe().split(":")[0].replace("status", "exit code")
            how += f" after {TIME_LIMIT:g} seconds" if result.timed_out else ""
            raise OpExecError(f"iallocator module '{call.allocator}' failed: {how}, output '{said}'")
        if result.truncated:
            raise OpExecError(f"iallocator module '{call.allocator}' printed more than {OUTPUT_LIMIT} bytes")
        return result.stdout.decode("utf-8", "replace")


def options(call: IallocatorRunner) -> list[str]:
    """The arguments behind the document's path."""
    return [each for name, value in call.default_iallocator_params.items() for each in option(name, value)]


def option(name: str, value: object) -> list[str]:
    """One argument, or none: a parameter that is only named (KEY, or KEY=) has no value, one that is false is left out."""
    if value is False:
        return []
    return [f"--{name}" if value in (None, True, "") else f"--{name}={value}"]
