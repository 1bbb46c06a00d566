"""Ceph's program `rbd`, run."""

import errno
from collections.abc import Sequence

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.interfaces import PoolSpace
from ganeti_tx.node.storage.rbd import command
from ganeti_tx.node.storage.rbd.image import Image
from ganeti_tx.node.storage.rbd.report import Mapped, PresentImage, parse_info, parse_mapped, parse_space, reason
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner, ProcessResult

#: Seconds for a look, which are some more than the program itself waits for the cluster.
LOOKING = command.PATIENCE + 20.0
#: Seconds for a change: a minute less than the node calls wait that lead to it.
CHANGING = 900.0 - 60
#: Bytes of what a report may be: some ten thousand devices.
REPORT_LIMIT = 8 << 20
#: How often, and after how many seconds, that is tried again which a client keeps up that died; it counts as one for half a minute.
TRIES, PAUSE = 10, 4.0


@frozen
class RbdTools:
    """Asks Ceph, and has it change things; all raise BlockDeviceError with one line. @ivar conf: as in `command.program`."""

    runner: IProcessRunner
    clock: IReactorTime
    conf: str | None = None

    async def find(self, image: Image) -> PresentImage | None:
        """An image; None when its pool has none of that name. @raise BlockDeviceError: there is no such pool."""
        result = await self._run(command.info(image), LOOKING)
        if result.status == errno.ENOENT and await self._pool_is_there(image.pool):
            return None
        if not result.succeeded:
            raise BlockDeviceError(f"{image.label}: {reason(result)}")
        return parse_info(result.stdout)

    async def device(self, image: Image) -> str | None:
        """The device that this node's kernel has of an image."""
        return next((each.device for each in await self.mapped() if each.is_of(image)), None)

    async def mapped(self) -> list[Mapped]:
        """All that have one."""
        result = await self._run(command.mapped(), LOOKING, REPORT_LIMIT)
        if not result.succeeded or result.truncated:
            raise BlockDeviceError(f"cannot tell which rbd images have devices: {reason(result)}")
        return parse_mapped(result.stdout)

    async def change(self, words: Sequence[str], what: str, patient: bool = False) -> None:
        """Have it done; with `patient`, what is in use is tried again for as long as somebody who died counts as a user.

        @raise BlockDeviceError: it was not; the text says what was to be done, and why not.
        """
        result = await self._run(words, CHANGING)
        for _ in range(TRIES if patient else 0):
            if result.status != errno.EBUSY:
                break
            await deferLater(self.clock, PAUSE)
            result = await self._run(words, CHANGING)
        if not result.succeeded:
            raise BlockDeviceError(f"cannot {what}: {reason(result)}")

    async def space(self, pool: str) -> PoolSpace:
        """The room of a pool."""
        result = await self._run_program(command.space(self.conf), LOOKING, REPORT_LIMIT)
        if not result.succeeded or result.truncated:
            raise BlockDeviceError(f"cannot tell the room of rbd pool {pool!r}: {reason(result)}")
        return parse_space(result.stdout, pool)

    async def fault(self, pool: str) -> str | None:
        """Why a pool cannot be used, in one line; None when it can."""
        try:
            result = await self._run(command.pool_words(pool), LOOKING)
        except BlockDeviceError as error:
            return str(error)
        return None if result.succeeded else reason(result)

    async def _pool_is_there(self, pool: str) -> bool:
        return (await self._run(command.pool_words(pool), LOOKING)).succeeded

    async def _run(self, words: Sequence[str], timeout: float, limit: int = 1 << 16) -> ProcessResult:
        return await self._run_program([*command.program(self.conf), *words], timeout, limit)

    async def _run_program(self, argv: Sequence[str], timeout: float, limit: int) -> ProcessResult:
        try:
            result = await self.runner.run(argv, timeout=timeout, output_limit=limit)
        except OSError as error:
            raise BlockDeviceError(f"{argv[0]}: {error.strerror}")
        if result.status == NOT_FOUND:
            raise BlockDeviceError(
                f"{argv[0]} is not on this node: Ceph's programs are not there (package ceph-common)"
            )
        return result
