"""Ends of transfers as processes of their own, each with a directory that only root sees."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import msgspec
from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from zope.interface import implementer

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.spec import LOCK, LOG, MAX_FILE, RELEASE, SPEC, STATUS, Spec, Status
from ganeti_tx.own_modules import module_argv
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.runtime.process import IProcessRunner

PROGRAM = tuple(module_argv("ganeti_tx.node.transfer"))
SPEC_MODE, DIRECTORY_MODE = 0o400, 0o700
#: Seconds that a process has to end by itself, and how often it is looked at meanwhile.
PATIENCE, LOOK = 10.0, 0.1
#: Bytes of its log that are told when it has died.
TOLD = 2048


@implementer(ITransferEnds)
@define
class TransferProcesses:
    """Starts, watches and ends them."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    clock: IReactorTime

    def _directory(self, name: str) -> Path:
        return self.paths.import_export_dir / name

    async def start(self, name: str, spec: Spec) -> None:
        """See `ITransferEnds`."""
        directory = self._directory(name)
        if self.files.exists(directory):
            raise OpExecError(f"transfer {name} has been begun before")
        self.files.mkdir(directory, DIRECTORY_MODE)
        await self.files.write_atomic(directory / SPEC, msgspec.json.encode(spec), SPEC_MODE, sync=False)
        self.runner.run_detached([*PROGRAM, str(directory)], log=directory / LOG)

    async def status(self, name: str) -> Status | None:
        """See `ITransferEnds`."""
        directory = self._directory(name)
        lives = self._lives(directory)  # asked first: it may end while we read
        status = self._read(directory)
        if status is None:
            return None
        if status.exit_status is None and not lives and not self._lives(directory):  # it may have begun while we read
            status = self._read(directory) or status  # and ended
            if status.exit_status is None:
                status.exit_status, status.error_message = 1, "its process has died"
        status.recent_output = self._said(directory)
        return status

    def _lives(self, directory: Path) -> bool:
        return holder(directory / LOCK) is not None

    def _read(self, directory: Path) -> Status | None:
        try:
            return msgspec.json.decode(self.files.read(directory / STATUS, MAX_FILE), type=Status)
        except FileNotFoundError:
            return None

    def _said(self, directory: Path) -> list[str]:
        with suppress(OSError):
            return self.files.read(directory / LOG, MAX_FILE)[-TOLD:].decode("utf-8", "replace").splitlines()[-20:]
        return []

    async def stop(self, name: str) -> None:
        """See `ITransferEnds`."""
        waited = 0.0
        while (process := holder(self._directory(name) / LOCK)) is not None:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGTERM if waited < PATIENCE else signal.SIGKILL)
            await deferLater(self.clock, LOOK)
            waited += LOOK

    async def release(self, name: str) -> None:
        """See `ITransferEnds`."""
        directory = self._directory(name)
        if self.files.exists(directory):
            await self.files.write_atomic(directory / RELEASE, b"", SPEC_MODE, sync=False)

    async def remove(self, name: str) -> None:
        """See `ITransferEnds`."""
        await self.stop(name)
        directory = self._directory(name)
        with suppress(FileNotFoundError):
            for entry in self.files.listdir(directory):
                self.files.remove(directory / entry)
            self.files.rmdir(directory)
