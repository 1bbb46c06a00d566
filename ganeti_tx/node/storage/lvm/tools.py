"""LVM's programs, run."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from attrs import field, frozen
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.lvm.report import Group, LogicalVolume, Physical, Row, Segment, parse, report_argv
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner, ProcessResult

#: Seconds; LVM waits for its own locks.
TIMEOUT = 120.0
#: Bytes of what a report may be: some ten thousand volumes.
REPORT_LIMIT = 8 << 20


class NotInstalledError(BlockDeviceError):
    """This node has no LVM."""


@frozen
class LvmTools:
    """Asks LVM, and has it change things; all raise BlockDeviceError with one line."""

    runner: IProcessRunner
    _placing: dict[str, DeferredLock] = field(factory=dict, init=False, eq=False)

    @asynccontextmanager
    async def placing(self, group: str) -> AsyncIterator[None]:
        """While it is looked where in a group a volume may lie, and till that is there, nobody else looks."""
        lock = self._placing.setdefault(group, DeferredLock())
        await lock.acquire()
        try:
            yield
        finally:
            lock.release()
            if not lock.locked:
                self._placing.pop(group, None)

    async def volume(self, group: str, name: str) -> LogicalVolume | None:
        """A volume; None when it, or its group, is not there."""
        found = await self._report(LogicalVolume, f'vg_name="{group}" && lv_name="{name}"')
        return found[0] if found else None

    async def volumes(self, group: str) -> list[LogicalVolume]:
        """All of a group. @raise BlockDeviceError: there is no such group."""
        await self.group(group)
        return await self._report(LogicalVolume, f'vg_name="{group}"')

    async def segments(self, select: str = "") -> list[Segment]:
        """All of this node, or those that are selected."""
        return await self._report(Segment, select)

    async def groups(self) -> list[Group]:
        """All of this node."""
        return await self._report(Group)

    async def group(self, name: str) -> Group:
        """One. @raise BlockDeviceError: there is none of that name."""
        found = {each.vg_name: each for each in await self.groups()}
        if name not in found:
            there = ", ".join(sorted(found)) or "none"
            raise BlockDeviceError(f"volume group {name!r} is not on this node; there are: {there}")
        return found[name]

    async def physical(self) -> list[Physical]:
        """The physical volumes of this node, those in no group too."""
        return await self._report(Physical)

    async def of_group(self, name: str) -> list[Physical]:
        """Those of a group that are there."""
        return [each for each in await self.physical() if each.vg_name == name and not each.missing]

    async def change(self, argv: Sequence[str], what: str) -> None:
        """@raise BlockDeviceError: LVM refused; the text says what was to be done, and why not."""
        result = await self._run(argv)
        if not result.succeeded:
            raise BlockDeviceError(f"cannot {what}: {argv[0]} {result.describe()}")

    async def _report(self, kind: type[Row], select: str = "") -> list[Row]:
        """What can be read counts, though LVM complains of other volumes; nothing at all only without complaints."""
        argv = report_argv(kind, select)
        result = await self._run(argv, REPORT_LIMIT)
        rows = parse(kind, result.stdout) if result.stdout.strip() and not result.truncated else []
        if (not rows and not result.succeeded) or result.timed_out or result.truncated:
            ended = "printed too much" if result.truncated else result.describe()
            raise BlockDeviceError(f"{argv[0]} {ended}")
        return rows

    async def _run(self, argv: Sequence[str], limit: int = 1 << 16) -> ProcessResult:
        try:
            result = await self.runner.run(argv, timeout=TIMEOUT, output_limit=limit)
        except OSError as error:
            raise BlockDeviceError(f"{argv[0]}: {error.strerror}")
        if result.status == NOT_FOUND:
            raise NotInstalledError(f"{argv[0]} is not on this node: LVM is not installed (package lvm2)")
        return result
