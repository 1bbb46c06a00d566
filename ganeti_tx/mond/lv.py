"""The collector "lv": the logical volumes of this node and whose they are."""

from typing import Any

from attrs import define
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.mond.interfaces import Category, ICollector, IConfigFacts, Kind
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

SEPARATOR = "|"
#: What is asked, by the report's names and in its order, and what it is there; sizes are in bytes.
FIELDS: dict[str, type] = {
    "uuid": str, "name": str, "attr": str, "major": int, "minor": int, "kernel_major": int, "kernel_minor": int,
    "size": int, "seg_count": int, "tags": str, "modules": str, "vg_uuid": str, "vg_name": str, "segtype": str,
    "seg_start": int, "seg_start_pe": int, "seg_size": int, "seg_tags": str, "seg_pe_ranges": str, "devices": str,
}  # fmt: skip
#: What LVM calls differently: a volume's own fields have a prefix there.
PREFIXED = ("uuid", "name", "attr", "major", "minor", "kernel_major", "kernel_minor", "size", "tags", "modules")
COLUMNS = ",".join(f"lv_{name}" if name in PREFIXED else name for name in FIELDS)
ARGV = (
    "lvs", "--noheadings", "--nosuffix", "--units", "b", "--segments", "--separator", SEPARATOR, "-o", COLUMNS,
)  # fmt: skip
#: Seconds; LVM waits for its own locks.
TIMEOUT = 15.0
OUTPUT_LIMIT = 8 << 20


@implementer(ICollector)
@define
class LogicalVolumes:
    """A line for each segment of each volume. Where LVM is not installed there are no volumes."""

    runner: IProcessRunner
    config: IConfigFacts
    name: str = "lv"
    category: Category | None = Category.STORAGE
    kind: Kind = Kind.PERFORMANCE
    format_version: int = 1

    async def collect(self) -> dict[str, Any]:
        """See `ICollector`."""
        result = await self.runner.run(ARGV, timeout=TIMEOUT, output_limit=OUTPUT_LIMIT)
        if result.status == NOT_FOUND:
            return {"lvs": []}
        if not result.succeeded or result.truncated:
            raise BlockDeviceError(f"lvs {result.describe()}")
        volumes = self.config.facts().volumes
        found = [parse_line(line) for line in result.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
        return {"lvs": [{**each, "instance": volumes.get((each["vg_name"], each["name"]))} for each in found]}


def parse_line(line: str) -> dict[str, Any]:
    """One line of lvs. @raise BlockDeviceError: it has other columns than were asked for."""
    words = line.strip().split(SEPARATOR)
    try:
        return {name: kind(word) for (name, kind), word in zip(FIELDS.items(), words, strict=True)}
    except ValueError:
        raise BlockDeviceError(f"cannot read this line of lvs: {line[:200]!r}") from None
