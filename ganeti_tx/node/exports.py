"""The exported instances of this node."""

import errno
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import ECode, GenericError, OpExecError, OpPrereqError
from ganeti_tx.model.export_file import BUILDING, read_export
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.backup import (
    ExportBegin,
    ExportDescription,
    ExportDiscard,
    ExportInfo,
    ExportList,
    ExportRemove,
    FinalizeExport,
)
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

CONFIG = "config.ini"
CONFIG_MODE, DIRECTORY_MODE = 0o600, 0o700
#: Bytes of a config.ini.
MAX_CONFIG = 4 << 20


@frozen
class Exports:
    """Each is a directory of the instance's name.

    One that is put together is called NAME.new, and the one that it replaces, for a moment, .NAME.old; one that
    is removed is called .NAME.gone.
    """

    files: IFiles
    paths: Paths
    threads: IThreads

    @answers(ExportList)
    async def names(self, call: ExportList) -> list[str]:
        """In order; those that begin with a dot are on their way out."""
        return await self.threads.run(self._names)

    def _names(self) -> list[str]:
        if not self.files.exists(self.paths.export_dir):
            return []
        return sorted(name for name in self.files.listdir(self.paths.export_dir) if not name.startswith("."))

    @answers(ExportInfo)
    async def info(self, call: ExportInfo) -> ExportDescription:
        """As it stands. @raise OpExecError: there is no export, or none that could be imported."""
        directory = self.directory(call.path)
        try:
            text = await self.threads.run(self._config, directory)
            await self.threads.run(read_export, text)  # a large one takes seconds
        except GenericError as error:
            raise OpExecError(f"No export or invalid export found in dir {directory}: {error}") from None
        return ExportDescription(str(directory), text)

    def _config(self, directory: Path) -> str:
        try:
            return self.files.read(directory / CONFIG, MAX_CONFIG, links=False).decode()
        except UnicodeDecodeError:
            raise GenericError(f"{CONFIG} is no text") from None
        except (FileNotFoundError, NotADirectoryError):
            raise GenericError("Export info file doesn't have the required fields: it is not there") from None
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            raise GenericError(f"{CONFIG} cannot be read: {why}") from None

    @answers(ExportBegin)
    async def begin(self, call: ExportBegin) -> None:
        """An empty directory. @raise OpExecError: that of another instance's export lies there."""
        new = await self._own(call.export)
        self._put_back(call.export)
        await self.threads.run(self.files.remove_tree, new)
        self.files.mkdir(new, DIRECTORY_MODE)

    @answers(ExportDiscard)
    async def discard(self, call: ExportDiscard) -> None:
        """What had not come into its place; the former export gets back what was taken from it."""
        if await self._other(call.export) is None:
            await self.threads.run(self.files.remove_tree, self.building(call.export))
        self._put_back(call.export)

    def _put_back(self, name: str) -> None:
        """The former export, if nothing has come in its place."""
        final, old = self.paths.export_dir / name, self._old(name)
        if self.files.exists(old) and not self.files.exists(final):
            self.files.rename(old, final)

    @answers(FinalizeExport)
    async def finalize(self, call: FinalizeExport) -> None:
        """The former export goes when the new one is whole. @raise OpExecError: as for `begin`."""
        final, new, old = self.paths.export_dir / call.export, await self._own(call.export), self._old(call.export)
        await self.files.write_atomic(new / CONFIG, call.config.encode(), CONFIG_MODE)
        await self.threads.run(self.files.remove_tree, old)
        if self.files.exists(final):
            self.files.rename(final, old)
        self.files.rename(new, final)
        await self.files.make_sure([self.paths.export_dir])
        await self.threads.run(self.files.remove_tree, old)

    @answers(ExportRemove)
    async def remove(self, call: ExportRemove) -> None:
        """Out of sight first, so that nobody finds a part of it, or puts that back."""
        final, gone = self.paths.export_dir / call.export, self.paths.export_dir / f".{call.export}.gone"
        for place in (self._old(call.export), gone):
            await self.threads.run(self.files.remove_tree, place)
        if self.files.exists(final):
            self.files.rename(final, gone)
            await self.threads.run(self.files.remove_tree, gone)

    def dump(self, path: str, name: str) -> Path:
        """A file of an export with the data of a disk; one that leads elsewhere may have come with an export that others made.

        @raise OpExecError: there is no such file. @raise OpPrereqError: as `directory`.
        """
        file = self.directory(path) / name
        if not self.files.exists(file):
            raise OpExecError(f"export {path} has no file {name}")
        try:
            target = self.files.readlink(file)
        except OSError:  # it is no link
            return file
        raise OpExecError(
            f"file {name} of export {path} is not imported: it is a link to {target}; put the dump itself in its place"
        )

    def directory(self, path: str) -> Path:
        """Where an export is. @raise OpPrereqError: not below the directory of exports."""
        directory = self.paths.export_dir / path
        if directory == self.paths.export_dir or not directory.is_relative_to(self.paths.export_dir):
            raise OpPrereqError(f"{path} is not below {self.paths.export_dir}, where exports are", ECode.INVAL)
        return directory

    def building(self, name: str) -> Path:
        """Where an export is put together."""
        return self.paths.export_dir / f"{name}{BUILDING}"

    async def _own(self, name: str) -> Path:
        """The same. @raise OpExecError: it is the whole export of another instance, which is called so."""
        new = self.building(name)
        if (other := await self._other(name)) is not None:
            raise OpExecError(
                f"{new}, where the export of {name} would be put together, is an export of instance {other}; move it "
                "elsewhere first, or choose another node"
            )
        return new

    async def _other(self, name: str) -> str | None:
        """The instance whose export lies there; None for what is no whole export, or is left of one of this name."""
        try:
            found = read_export(await self.threads.run(self._config, self.building(name))).name
        except GenericError:
            return None
        return found if found != name else None

    def _old(self, name: str) -> Path:
        return self.paths.export_dir / f".{name}.old"
