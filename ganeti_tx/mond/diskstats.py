"""The collector "diskstats": what the kernel counts for each block device."""

from pathlib import Path

from attrs import define
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.mond.interfaces import Category, ICollector, Kind
from ganeti_tx.runtime.files import IFiles

DISKSTATS = Path("/proc/diskstats")
LIMIT = 4 << 20
#: The first eleven counters of a line, in order (Linux, Documentation/admin-guide/iostats.rst), by the report's names.
COUNTERS = (
    "readsNum", "mergedReads", "secRead", "timeRead",
    "writes", "mergedWrites", "secWritten", "timeWrite",
    "ios", "timeIO", "wIOmillis",
)  # fmt: skip


@implementer(ICollector)
@define
class DiskStats:
    """Sectors are of 512 bytes, times in milliseconds; later kernels' further counters are left out."""

    files: IFiles
    name: str = "diskstats"
    category: Category | None = Category.STORAGE
    kind: Kind = Kind.PERFORMANCE
    format_version: int = 1

    async def collect(self) -> list[dict[str, int | str]]:
        """See `ICollector`."""
        return parse_diskstats(self.files.read(DISKSTATS, LIMIT).decode("utf-8", "replace"))


def parse_diskstats(text: str) -> list[dict[str, int | str]]:
    """A device each. @raise GanetiError: a line that is none of the kernel's."""
    return [_device(line) for line in text.splitlines() if line.strip()]


def _device(line: str) -> dict[str, int | str]:
    try:
        major, minor, name, *numbers = line.split()
        counters = dict(zip(COUNTERS, map(int, numbers[: len(COUNTERS)]), strict=True))
        return {"major": int(major), "minor": int(minor), "name": name, **counters}
    except ValueError:
        raise GanetiError(f"cannot read this line of {DISKSTATS}: {line[:200]!r}") from None
