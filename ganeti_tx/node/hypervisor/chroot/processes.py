"""The processes whose root directory is an instance's, or lies below it."""

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.process_usage import is_over, read_usage
from ganeti_tx.runtime.threads import IThreads

#: Seconds between two looks at processes that are to end.
PAUSE = 0.05
NODE_ROOT = "/"


@frozen
class Inhabitants:
    """Finds them in the kernel's list and ends them; those of the node itself are in no instance's root, whatever that is."""

    threads: IThreads
    clock: IReactorTime
    proc: Path = Path("/proc")

    async def of(self, root: Path) -> list[int]:
        """Their ids. @raise HypervisorError: this is no root of an instance."""
        return await self.threads.run(self._list, root)

    async def cpu_seconds(self, processes: list[int]) -> float:
        """The processor time that they have used together; none for those that are gone."""
        return await self.threads.run(lambda: sum(read_usage(self.proc / str(each)).cpu or 0.0 for each in processes))

    async def when_none(self, root: Path, limit: float, number: signal.Signals | None = None) -> list[int]:
        """Wait so many seconds until there are none, and send each of them a signal until then; those that are left.

        @raise HypervisorError: this is no root of an instance; nothing was sent.
        """
        deadline = self.clock.seconds() + limit
        signalled: set[int] = set()
        while True:
            left = await self.of(root)
            if number is not None:
                for each in set(left) - signalled:
                    self._signal(each, root, number)
                signalled |= set(left)
            if not left or self.clock.seconds() >= deadline:
                return left
            await deferLater(self.clock, PAUSE)

    def _list(self, root: Path) -> list[int]:
        place = self._place(root)
        return sorted(each for each in self._all() if self._is_below(each, place) and not is_over(each))

    def _place(self, root: Path) -> str:
        """As the kernel names it."""
        place = os.path.realpath(root)
        if root.is_symlink():
            raise HypervisorError(
                f"its root {root} is a link, to {place}, and nothing is done to what runs there; 'rm {root}' removes the link"
            )
        with suppress(FileNotFoundError):  # of what is gone nobody has it for a root
            if place == NODE_ROOT or os.path.samefile(root, NODE_ROOT):
                raise HypervisorError(
                    f"its root {root} is the node's own, and nothing is done to what runs there; 'umount {root}' takes it away"
                )
        return place

    def _all(self) -> Iterator[int]:
        return (int(entry.name) for entry in self.proc.iterdir() if entry.name.isdigit())

    def _is_below(self, process: int, place: str) -> bool:
        try:
            return f"{os.readlink(self.proc / str(process) / 'root')}/".startswith(f"{place}/")
        except OSError:
            return False  # it has ended meanwhile

    def _signal(self, process: int, root: Path, number: signal.Signals) -> None:
        """By a descriptor, which is of the process that is looked at, though another one may get its id."""
        try:
            descriptor = os.pidfd_open(process)
        except OSError as error:
            if error.errno == errno.ESRCH:
                return
            raise
        try:
            if self._is_below(process, self._place(root)):
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            pass  # it has ended meanwhile
        finally:
            os.close(descriptor)
