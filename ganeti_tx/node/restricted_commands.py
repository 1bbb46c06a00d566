"""Programs that the administrator has laid out on this node for the master to run (reference: restricted-commands.json)."""

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, LockError, OpExecError
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.administration import MARGIN, RestrictedCommand
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner, ProcessResult

log = Logger()

#: What a command may be called: a plain file name that is not hidden.
NAME = re.compile(r"[a-zA-Z0-9_][-_.a-zA-Z0-9]{0,99}")
EXECUTABLE = 0o111
WRITABLE_BY_OTHERS = 0o022
#: Seconds until who was refused hears of it; nobody else is served meanwhile, so that names are not soon guessed.
REFUSAL_DELAY = 5.0
#: Seconds that a request waits for the one before it, and between two looks.
LOCK_LIMIT = 30.0
LOCK_INTERVAL = 0.2
LOCK_MODE = 0o600
#: Seconds that a command may take: less than the caller waits.
TIME_LIMIT = RestrictedCommand.timeout - MARGIN - LOCK_LIMIT
#: Bytes of what it says, on each channel; the job keeps it for each node.
OUTPUT_LIMIT = 64 * 1024


class Held(Protocol):
    """A lock that this daemon holds."""

    def release(self) -> None:
        """Let go of it."""


Hold = Callable[[Path, int], Held]


class CommandRefused(GanetiError):
    """Why a command is not run; for the log of this node alone."""


@define
class RestrictedCommands:
    """Runs one at a time. They are switched on by the directory that they are in, which is not made by the installation.

    Whatever is wrong with a request, its answer is the same, and late: who has stolen a key learns nothing of what is here.
    `hold` locks a file. @raise LockError (`hold`): another one has it. `owners` are the user ids that programs may belong to.
    """

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    clock: IReactorTime
    hold: Hold
    owners: Collection[int]

    @answers(RestrictedCommand)
    async def run(self, call: RestrictedCommand) -> str:
        """What it said. @raise OpExecError: it was refused, or it failed."""
        held = await self._locked()
        try:
            try:
                program = self._program(call.command)
            except CommandRefused as error:
                log.warn("restricted command {command!r} refused: {why}", command=call.command[:200], why=str(error))
                await deferLater(self.clock, REFUSAL_DELAY)
                raise OpExecError(
                    f"Executing command '{call.command[:200]}' failed; the log of the node daemon there has the reason"
                ) from None
            log.info("restricted command {program}", program=str(program))
            result = await self.runner.run([str(program)], cwd=Path("/"), timeout=TIME_LIMIT, output_limit=OUTPUT_LIMIT)
        finally:
            held.release()
        if not result.succeeded:
            raise OpExecError(f"Command '{call.command}' {failure(result)}")
        return text(result)

    async def _locked(self) -> Held:
        """@raise OpExecError: the one before takes too long."""
        deadline = self.clock.seconds() + LOCK_LIMIT
        while True:
            try:
                return self.hold(self.paths.restricted_commands_lock_file, LOCK_MODE)
            except LockError:
                if self.clock.seconds() >= deadline:
                    raise OpExecError(
                        f"another restricted command has been running on this node for {LOCK_LIMIT:g} seconds and more"
                    ) from None
            await deferLater(self.clock, LOCK_INTERVAL)

    def _program(self, command: str) -> Path:
        """Where it is. @raise CommandRefused: it must not be run."""
        directory = self.paths.restricted_commands_dir
        if not self.files.exists(directory):
            raise CommandRefused(f"there is no directory {directory}, by which restricted commands are switched on")
        self._check_safe(directory, self._stat(directory))
        if not NAME.fullmatch(command):
            raise CommandRefused("not a plain file name")
        found = self._stat(directory / command)
        if found.is_directory or not found.mode & EXECUTABLE:
            raise CommandRefused(f"{directory / command} is not an executable file")
        self._check_safe(directory / command, found)
        return directory / command

    def _stat(self, path: Path) -> FileStat:
        try:
            return self.files.stat(path)
        except OSError as error:
            raise CommandRefused(reason(error)) from None

    def _check_safe(self, path: Path, found: FileStat) -> None:
        if found.uid not in self.owners:
            raise CommandRefused(f"{path} belongs to user {found.uid}; allowed are {sorted(self.owners)}")
        if found.mode & WRITABLE_BY_OTHERS:
            raise CommandRefused(f"{path} has mode {found.mode:04o}; only its owner may write to it")


def failure(result: ProcessResult) -> str:
    """How it ended, and all that it said."""
    how = result.describe().split(":")[0]
    said = text(result).strip()
    return f"{how}; output: {said}" if said else how


def text(result: ProcessResult) -> str:
    """What it said."""
    cut = f"\n(more than {OUTPUT_LIMIT} bytes; the rest is left out)" if result.truncated else ""
    return (result.stdout + result.stderr).decode("utf-8", "replace") + cut
