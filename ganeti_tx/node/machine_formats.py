"""As what the machines of a node read their disks, which verification compares with what the disks are."""

from collections.abc import Mapping, Sequence

from twisted.internet.defer import Deferred

from ganeti_tx.errors import HypervisorError, error_text
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, ITellsFormats

#: Formats by the uuids of disks, or why the machine does not tell.
Told = Mapping[str, str] | str


async def machine_formats(
    hypervisors: Mapping[str, IHypervisor], instances: Sequence[tuple[str, str]]
) -> dict[str, Told]:
    """Of instances, by (hypervisor, name), those that run here and can be asked; all are asked at the same time."""
    telling = {name: ITellsFormats(each) for name, each in hypervisors.items() if ITellsFormats.providedBy(each)}
    asked = [
        (name, Deferred.fromCoroutine(told_by(telling[kind], name))) for kind, name in instances if kind in telling
    ]
    found = [(name, await each) for name, each in asked]
    return {name: told for name, told in found if told}


async def told_by(hypervisor: ITellsFormats, instance_name: str) -> Told:
    """What one machine says."""
    try:
        return await hypervisor.disk_formats(instance_name)
    except HypervisorError as error:
        return error_text(error)
