"""The collector "cpu-avg-load": how busy the processors were over the last ten minutes."""

import os
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.mond.interfaces import Category, ICollector, Kind
from ganeti_tx.mond.window import Window
from ganeti_tx.runtime.files import IFiles

STAT = Path("/proc/stat")
LIMIT = 4 << 20
TICKS = os.sysconf("SC_CLK_TCK")
#: Of the counters of a line: user, nice, system, irq, softirq, steal (proc(5)); what guests take is in the first two.
BUSY = (0, 1, 2, 5, 6, 7)

#: Busy seconds since the start of all processors together, then of each.
Busy = tuple[float, ...]


@implementer(ICollector)
@define
class CpuLoad:
    """A load of 1.0 is one processor that never rests; the total is of all together."""

    files: IFiles
    clock: IReactorTime
    name: str = "cpu-avg-load"
    category: Category | None = None
    kind: Kind = Kind.PERFORMANCE
    format_version: int = 1
    window: Window[Busy] = field(factory=Window)

    async def collect(self) -> dict[str, Any]:
        """See `ICollector`; until the window is full there is only a text that says so."""
        busy = parse_stat(self.files.read(STAT, LIMIT).decode("utf-8", "replace"))
        if self.window.samples and len(self.window.samples[-1][1]) != len(busy):
            self.window.clear()  # a processor came or went
        self.window.add(self.clock.seconds(), busy)
        if not self.window.is_full:
            return {"error": f"only {self.window.seconds:.0f} of {self.window.span:.0f} seconds are covered so far"}
        before = self.window.samples[0][1]
        total, *each = (max(0.0, now - then) / self.window.seconds for now, then in zip(busy, before, strict=True))
        return {"cpu_number": len(each), "cpus": each, "cpu_total": total}


def parse_stat(text: str) -> Busy:
    """The busy time in all and of each processor. @raise GanetiError: the kernel does not tell."""
    try:
        found = tuple(_busy(line) for line in text.splitlines() if line.startswith("cpu"))
    except (ValueError, IndexError):
        found = ()
    if len(found) < 2:
        raise GanetiError(f"{STAT} does not tell the processors' times")
    return found


def _busy(line: str) -> float:
    counters = [int(word) for word in line.split()[1:]]
    return sum(counters[place] for place in BUSY) / TICKS
