"""Programs of the administrator's that know and switch the power of other nodes, run on the master (reference: oob.json)."""

from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.administration import RunOob
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult

EXECUTABLE = 0o111
WRITABLE_BY_OTHERS = 0o002
#: Bytes that it may print on each channel, and characters of its complaint that are told.
OUTPUT_LIMIT = 64 * 1024
TOLD = 2048


@frozen
class OutOfBand:
    """Runs one with two arguments, the command and the node's name."""

    files: IFiles
    runner: IProcessRunner

    @answers(RunOob)
    async def run(self, call: RunOob) -> str:
        """Its standard output. @raise OpExecError: it cannot be run, failed, or took too long."""
        self._check(Path(call.program))
        argv = [call.program, call.command, call.remote_node]
        result = await self.runner.run(argv, cwd=Path("/"), timeout=call.seconds, output_limit=OUTPUT_LIMIT)
        if result.timed_out:
            raise OpExecError(f"{call.program} was aborted, as it took more than {call.seconds} seconds")
        if not result.succeeded:
            raise OpExecError(f"{call.program} failed: {failure(result)}")
        if result.truncated:
            raise OpExecError(f"{call.program} printed more than {OUTPUT_LIMIT} bytes")
        return result.stdout.decode("utf-8", "replace")

    def _check(self, program: Path) -> None:
        if not program.is_absolute():
            raise OpExecError(f"oob_program is {str(program)!r}; it must be the absolute path of a program")
        try:
            found = self.files.stat(program)
        except OSError as error:
            raise OpExecError(f"no out-of-band program on the master: {reason(error)}") from None
        if found.is_directory or not found.mode & EXECUTABLE:
            raise OpExecError(f"{program} is not an executable file")
        if found.mode & WRITABLE_BY_OTHERS:
            raise OpExecError(f"{program} is not run: others may write to it; 'chmod o-w' mends that")


def failure(result: ProcessResult) -> str:
    """How it ended, and what it complained of."""
    how, said = result.describe().split(":")[0], result.stderr.decode("utf-8", "replace").strip()[:TOLD]
    return f"{how}: {said}" if said else how
