"""The collector "inst-status-xen": whether this node's Xen instances do what was asked of them."""

from typing import Any

from attrs import define
from zope.interface import implementer

from ganeti_tx.model.hypervisors import hypervisors_of
from ganeti_tx.mond.inst_status import Reasons, Seen, instances_report
from ganeti_tx.mond.interfaces import Category, ICollector, IConfigFacts, Kind
from ganeti_tx.mond.xl import domains, uptimes
from ganeti_tx.runtime.process import IProcessRunner


@implementer(ICollector)
@define
class InstanceStatusXen:
    """States are Xen's own words."""

    runner: IProcessRunner
    config: IConfigFacts
    reasons: Reasons
    name: str = "inst-status-xen"
    category: Category | None = Category.INSTANCE
    kind: Kind = Kind.STATUS
    format_version: int = 1

    async def collect(self) -> Any:
        """See `ICollector`."""
        found = await domains(self.runner)
        up = await uptimes(self.runner)
        seen = {domain.name: Seen(domain.state, up.get(domain.name)) for domain in found}
        return instances_report(self.config.facts(), hypervisors_of(self.name), seen, self.reasons)
