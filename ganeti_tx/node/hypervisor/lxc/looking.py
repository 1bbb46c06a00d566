"""What runs here, as LXC tells."""

import shlex

from attrs import frozen

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo, Owner, RunState
from ganeti_tx.node.hypervisor.listing import listed
from ganeti_tx.node.hypervisor.lxc.containers import kill_argv
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.node.hypervisor.lxc.own import OwnContainers


@frozen
class ContainerLooking:
    """Asks LXC of each."""

    own: OwnContainers

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """See `IHypervisor`."""
        found = await self.own.running(self.own.layout(instance_name))
        if found is None:
            return None
        record, seen = found
        return InstanceInfo(
            *(instance_name, seen.pid, record.memory, record.vcpus, RunState.RUNNING, seen.cpu_seconds),
            uuid=record.uuid,
            ended_by=ended_by(self.own.layout(instance_name)),
        )

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """See `IHypervisor`."""
        layout = self.own.layout(instance_name)
        record = self.own.record(layout)
        if record is None or record.uuid in ("", other_than):
            return None
        return None if await self.own.containers.look(layout) is None else Owner(record.uuid, ended_by(layout))

    async def all(self) -> list[InstanceInfo]:
        """See `IHypervisor.list_instances`."""
        return await listed(self.own.names(), self.info)

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """See `ITellsInterfaces`."""
        found = await self.own.running(self.own.layout(instance.name))
        veths = () if found is None else found.record.veths
        return next((veth.outside for veth in veths if veth.uuid == nic.uuid), None)


def ended_by(layout: ContainerLayout) -> str:
    """What ends one that belongs to nobody."""
    return shlex.join(kill_argv(layout))
