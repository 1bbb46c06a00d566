"""The driver of LXC: what is asked of it, and which of its parts does that."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IHypervisor,
    IKeepsState,
    InstanceInfo,
    IPlugs,
    ITellsInterfaces,
    Owner,
)
from ganeti_tx.node.hypervisor.lxc.console import told_console
from ganeti_tx.node.hypervisor.lxc.ending import ContainerEnding
from ganeti_tx.node.hypervisor.lxc.looking import ContainerLooking
from ganeti_tx.node.hypervisor.lxc.network import Veths
from ganeti_tx.node.hypervisor.lxc.node_facts import LxcFacts
from ganeti_tx.node.hypervisor.lxc.own import OwnContainers
from ganeti_tx.node.hypervisor.lxc.starting import ContainerStarting


@implementer(IHypervisor, IKeepsState, IPlugs, ITellsInterfaces)
@frozen(kw_only=True)
class LxcHypervisor:
    """Decides nothing itself. No part knows it, and the daemon may be restarted at any time (`OwnContainers`)."""

    own: OwnContainers
    starting: ContainerStarting
    ending: ContainerEnding
    looking: ContainerLooking
    facts: LxcFacts
    veths: Veths
    name: str = "lxc"

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        await self.starting.start(instance, disks, paused)

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        await self.ending.stop(instance_name, timeout, force)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says."""
        await self.starting.reboot(instance, disks)

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        return await self.looking.info(instance_name)

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """As IHypervisor says."""
        return await self.looking.owner(instance_name, other_than)

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says."""
        return await self.looking.all()

    async def node_info(self) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return await self.facts.info()

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        return await self.facts.verify()

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says."""
        self.starting.validate(hvparams)

    async def console(self, instance: InstanceSpec) -> ToldConsole:
        """As IHypervisor says."""
        return told_console(instance, self.own.layout(instance.name))

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        return self.own.names()

    async def check_link(self, link: NicLink) -> None:
        """As IPlugs says."""
        await self.veths.ends.check_link(link)

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """As ITellsInterfaces says."""
        return await self.looking.interface_to(instance, nic)
