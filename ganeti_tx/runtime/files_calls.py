"""The steps that a write is made of, as the operating system offers them: the seam at which a disk fails in tests."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

from zope.interface import Interface, implementer

from ganeti_tx.runtime.ownership import give

#: Files that are synced at a time. The system brings what is synced at one moment to the disk in one go of its journal:
#: 512 small files, one after the other, take five times as long as eight at a time.
SYNCS = 8


class IDiskCalls(Interface):
    """Each method is one call, and raises OSError as the system does."""

    def create(path: Path, mode: int) -> int:
        """Open a file that must not exist, with exactly that mode from the first moment; its descriptor."""

    def own(descriptor: int, path: Path) -> None:
        """Give an open file to whom the file at `path` belongs, which it is to become."""

    def write(descriptor: int, data: memoryview) -> int:
        """Write from the start of the data; how many bytes were taken, perhaps not all."""

    def sync(descriptor: int) -> None:
        """Wait until a file's content is on the disk. After a failure its pages are not to be trusted."""

    def sync_each(descriptors: Sequence[int]) -> Mapping[int, OSError]:
        """`sync` for several files together; gives the errors by descriptor, none when all is well."""

    def close(descriptor: int) -> None:
        """Close it; it is closed even when this fails."""

    def move(source: Path, target: Path) -> None:
        """Put a file in another's place in one step."""

    def link(source: Path, target: Path) -> None:
        """Give a file a second name."""

    def unlink(path: Path) -> None:
        """Take a file's name away."""

    def sync_directory(path: Path) -> None:
        """Wait until a directory's names are on the disk."""

    def is_there(path: Path) -> bool:
        """Whether there is something of that name."""


@implementer(IDiskCalls)
class SystemCalls:
    """Those of this machine."""

    def create(self, path: Path, mode: int) -> int:
        """See `IDiskCalls`. Nobody can open the file before its mode is right."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0)
        try:
            os.fchmod(descriptor, mode)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def own(self, descriptor: int, path: Path) -> None:
        """See `IDiskCalls`."""
        give(descriptor, path)

    def write(self, descriptor: int, data: memoryview) -> int:
        """See `IDiskCalls`."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """See `IDiskCalls`."""
        os.fsync(descriptor)

    def sync_each(self, descriptors: Sequence[int]) -> Mapping[int, OSError]:
        """See `IDiskCalls`."""
        left = list(descriptors)
        faults: dict[int, OSError] = {}

        def sync() -> None:
            with suppress(IndexError):
                while True:
                    descriptor = left.pop()
                    try:
                        self.sync(descriptor)
                    except OSError as error:
                        faults[descriptor] = error

        others = [Thread(target=sync) for _ in descriptors[1:SYNCS]]
        started = 0
        with suppress(RuntimeError):  # there are no more threads to be had: those that run do it all
            for other in others:
                other.start()
                started += 1
        sync()
        for other in others[:started]:
            other.join()
        return faults

    def close(self, descriptor: int) -> None:
        """See `IDiskCalls`."""
        os.close(descriptor)

    def move(self, source: Path, target: Path) -> None:
        """See `IDiskCalls`."""
        source.rename(target)

    def link(self, source: Path, target: Path) -> None:
        """See `IDiskCalls`."""
        os.link(source, target, follow_symlinks=False)

    def unlink(self, path: Path) -> None:
        """See `IDiskCalls`."""
        path.unlink()

    def sync_directory(self, path: Path) -> None:
        """See `IDiskCalls`."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def is_there(self, path: Path) -> bool:
        """See `IDiskCalls`."""
        return os.path.lexists(path)
