"""The collector "xen-cpu-avg-load": how busy each Xen domain was over the last ten minutes."""

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from ganeti_tx.mond.interfaces import Category, ICollector, Kind
from ganeti_tx.mond.window import Window
from ganeti_tx.mond.xl import domains
from ganeti_tx.node.hypervisor.xen.listed import Domain
from ganeti_tx.runtime.process import IProcessRunner


@implementer(ICollector)
@define
class XenCpuAvgLoad:
    """A load of 1.0 is one processor that never rests. A domain shows from its second sample on, with the average
    over as much of its window as there is.
    """

    runner: IProcessRunner
    clock: IReactorTime
    name: str = "xen-cpu-avg-load"
    category: Category | None = None
    kind: Kind = Kind.PERFORMANCE
    format_version: int = 1
    windows: dict[tuple[str, int], Window[float]] = field(factory=dict)  # by name and id: a reboot gives a new id

    async def collect(self) -> dict[str, float]:
        """See `ICollector`."""
        found = await domains(self.runner)
        now = self.clock.seconds()
        self.windows = {_key(domain): self.windows.get(_key(domain)) or Window() for domain in found}
        for domain in found:
            self.windows[_key(domain)].add(now, domain.seconds)
        return {name: _load(window) for (name, _), window in self.windows.items() if window.seconds > 0}


def _key(domain: Domain) -> tuple[str, int]:
    return domain.name, domain.id


def _load(window: Window[float]) -> float:
    return max(0.0, window.samples[-1][1] - window.samples[0][1]) / window.seconds
