"""Whether disks can be read as they lie in their files."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.base import Params
from ganeti_tx.model.disk_formats import FORMATS, KEY, format_of
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_template import RAW, Template
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.interfaces import INodeRpc


def check_format(what: str, template: Template, params: Params | None, hypervisor: Hypervisor) -> None:
    """@raise OpPrereqError: an instance of this hypervisor cannot have such a disk."""
    wanted, known = format_of(template, params), HYPERVISORS[hypervisor].formats
    if template.has_disks and wanted not in known:
        raise OpPrereqError(
            f"{what}: hypervisor {hypervisor.value} cannot read disks of format {wanted}; it reads {', '.join(sorted(known))}",
            ECode.INVAL,
        )


def formats_possible(template: Template, hypervisor: Hypervisor) -> frozenset[str]:
    """How the bytes of a disk may lie, for an instance of a hypervisor."""
    return HYPERVISORS[hypervisor].formats.intersection(FORMATS if KEY in template.fixed else (RAW,))


async def check_images(nodes: INodeRpc, target: InstanceView) -> None:
    """@raise OpPrereqError: a file is not of its disk's format, so that the instance, once it is down, could not be started."""
    images = [without_secret(spec) for spec in target.disk_specs() if spec.format != RAW]
    states = await ask(nodes, target.primary, BlockdevStates(disks=images), ECode.ENVIRON) if images else []
    for spec, state in zip(images, states, strict=True):
        if state.status is None:
            why = state.fault or "it is not there"
            raise OpPrereqError(
                f"instance {target.instance.name} could not be started again with its disk/{spec.index}: {why}",
                ECode.ENVIRON,
            )
