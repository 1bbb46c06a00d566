"""The driver of Xen: what is asked of it, and which of its parts does that."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IBalloon,
    IHypervisor,
    IKeepsState,
    ILiveMigration,
    InstanceInfo,
    ITellsInterfaces,
    Owner,
    TlsPair,
)
from ganeti_tx.node.hypervisor.xen.console import told_console
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding
from ganeti_tx.node.hypervisor.xen.looking import DomainLooking
from ganeti_tx.node.hypervisor.xen.moves import DomainMoves
from ganeti_tx.node.hypervisor.xen.node_facts import XenFacts
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.planning import DomainPlanning
from ganeti_tx.node.hypervisor.xen.rebooting import DomainRebooting
from ganeti_tx.node.hypervisor.xen.receiving import DomainReceiving
from ganeti_tx.node.hypervisor.xen.resizing import DomainResizing
from ganeti_tx.node.hypervisor.xen.sending import DomainSending
from ganeti_tx.node.hypervisor.xen.starting import DomainStarting


@implementer(IHypervisor, IKeepsState, IBalloon, ITellsInterfaces, ILiveMigration)
@frozen(kw_only=True)
class XenHypervisor:
    """Decides nothing itself. No part knows it, and the daemon may be restarted at any time (`OwnDomains`)."""

    name: str
    own: OwnDomains
    planning: DomainPlanning
    starting: DomainStarting
    ending: DomainEnding
    rebooting: DomainRebooting
    looking: DomainLooking
    facts: XenFacts
    resizing: DomainResizing
    moves: DomainMoves
    sending: DomainSending
    receiving: DomainReceiving

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        await self.starting.start(instance, disks, paused)

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        await self.ending.stop(instance_name, timeout, force)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says."""
        await self.rebooting.reboot(instance, disks)

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
        await self.planning.validate(hvparams)

    async def console(self, instance: InstanceSpec) -> ToldConsole:
        """As IHypervisor says."""
        return told_console(self.own.layout(instance.name))

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        return self.own.names()

    async def balloon(self, instance_name: str, memory: int) -> None:
        """As IBalloon says."""
        await self.resizing.balloon(instance_name, memory)

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """As ITellsInterfaces says."""
        return await self.looking.interface_to(instance, nic)

    # Going to another node, and coming from there

    async def migration_info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """As ILiveMigration says."""
        return await self.sending.info(instance)

    async def accept(
        self,
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        info: Mapping[str, Any],
        address: str,
        tls: TlsPair | None = None,
        disks_come: bool = False,
        source: str = "",
    ) -> None:
        """As ILiveMigration says."""
        await self.receiving.accept(instance, disks, info, address, tls)

    async def send(
        self,
        instance: InstanceSpec,
        address: str,
        live: bool,
        tls: TlsPair | None = None,
        source: str = "",
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """As ILiveMigration says."""
        await self.sending.send(instance, address, tls)

    async def migration_progress(self, instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """As ILiveMigration says."""
        return await self.sending.progress(instance_name, wait)

    async def migration_side(self, instance_name: str) -> Side | None:
        """As ILiveMigration says."""
        return await self.moves.side(instance_name)

    async def stay_on_source(self, instance_name: str, target_is_gone: bool) -> None:
        """As ILiveMigration says."""
        await self.sending.stay(instance_name, target_is_gone)

    async def leave_source(self, instance_name: str, target_is_gone: bool = False) -> None:
        """As ILiveMigration says."""
        await self.sending.leave(instance_name)

    async def take_over(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        await self.receiving.take_over(instance_name)

    async def refuse(self, instance_name: str, goes_on_elsewhere: bool = False) -> None:
        """As ILiveMigration says."""
        await self.receiving.refuse(instance_name)
