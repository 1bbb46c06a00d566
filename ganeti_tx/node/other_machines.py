"""No call about an instance is done with a machine that has its name, and was started for another one.

Such a machine is left where an instance was removed while its node could not be asked, and its name was used again.
"""

from collections.abc import Mapping

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.other_machine import other_machine
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.rpc.calls.backup import ScriptTransferStart
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceForget, InstanceOsAdd, InstanceRunRename
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept, KeptNames

#: Calls that have an instance and reach no machine: they are about its disks, or about what is kept by its uuid.
BESIDE = (
    HypervisorValidateParams,
    *(InstanceForget, InstanceKeep, InstanceKept, KeptNames),
    *(InstanceOsAdd, InstanceRunRename, ScriptTransferStart),
)


async def is_others(hypervisor: IHypervisor, name: str, uuid: str) -> bool:
    """Whether the machine that is here under this name was started for another instance ('': nobody says for which it is asked)."""
    return bool(uuid) and await hypervisor.owner(name, other_than=uuid) is not None


async def about_it(hypervisor: IHypervisor, name: str, uuid: str, node_name: str) -> str | None:
    """What that machine is, and what ends it; None where `is_others` says no."""
    owner = await hypervisor.owner(name, other_than=uuid) if uuid else None
    return None if owner is None else other_machine(name, node_name, owner.uuid, owner.ended_by, hypervisor.name)


@frozen
class OtherMachines:
    """Of this node."""

    hypervisors: Mapping[str, IHypervisor]
    node_name: str

    async def refuse(self, call: NodeCall[object]) -> None:
        """@raise HypervisorError: the call is about an instance whose name another one's machine has here."""
        instance = getattr(call, "instance", None)
        if isinstance(instance, InstanceSpec) and not isinstance(call, BESIDE):
            hypervisor = self.hypervisors.get(instance.hypervisor)
            if hypervisor is None:
                return
            if fault := await about_it(hypervisor, instance.name, instance.uuid, self.node_name):
                raise HypervisorError(fault)
