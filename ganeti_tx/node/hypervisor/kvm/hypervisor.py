"""The driver of KVM: what is asked of it, and which of its parts does that."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.migration import DiskCopyProgress, MigrationProgress, Side
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.copying_interface import ICopiesDisks
from ganeti_tx.node.hypervisor.interfaces import (
    Alone,
    AttachedDisk,
    IBalloon,
    IChecksStart,
    IDiskGrowth,
    IDiskHolder,
    IEndsByItself,
    IFreezes,
    IGrows,
    IHotplug,
    IHypervisor,
    IKeepsFirmware,
    IKeepsState,
    IListensForMachines,
    ILiveMigration,
    InstanceInfo,
    IPlugs,
    IPostcopy,
    ITellsAddresses,
    ITellsFormats,
    ITellsInterfaces,
    Owner,
    TlsPair,
)
from ganeti_tx.node.hypervisor.kvm.agent.guests import AgentGuests
from ganeti_tx.node.hypervisor.kvm.consoles import Consoles
from ganeti_tx.node.hypervisor.kvm.copying import Copying
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.ends import Ends
from ganeti_tx.node.hypervisor.kvm.firmware import Firmware
from ganeti_tx.node.hypervisor.kvm.held_disks import HeldDisks
from ganeti_tx.node.hypervisor.kvm.hotplug.plugging import Plugging
from ganeti_tx.node.hypervisor.kvm.looking import Looking
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.node_facts import NodeFacts
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planning import Planning
from ganeti_tx.node.hypervisor.kvm.rebooting import Rebooting
from ganeti_tx.node.hypervisor.kvm.receiving import Receiving
from ganeti_tx.node.hypervisor.kvm.resizing import Resizing
from ganeti_tx.node.hypervisor.kvm.sending import Sending
from ganeti_tx.node.hypervisor.kvm.starting import Starting


@implementer(IHypervisor, IChecksStart, IKeepsState, IEndsByItself, IPlugs, ITellsInterfaces, IKeepsFirmware)
@implementer(IHotplug, IGrows, IBalloon, IDiskGrowth, IDiskHolder, ITellsFormats, IFreezes, ITellsAddresses)
@implementer(ILiveMigration, IListensForMachines, IPostcopy, ICopiesDisks)
@frozen(kw_only=True)
class KvmHypervisor:
    """Decides nothing itself. No part knows it, and the daemon may be restarted at any time (`OwnMachines`)."""

    machines: OwnMachines
    planning: Planning
    starting: Starting
    ending: Ending
    rebooting: Rebooting
    ends: Ends
    looking: Looking
    facts: NodeFacts
    consoles: Consoles
    network: Network
    firmware: Firmware
    plugging: Plugging
    resizing: Resizing
    held: HeldDisks
    guests: AgentGuests
    sending: Sending
    receiving: Receiving
    copying: Copying
    name: str = "kvm"

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        await self.starting.start(instance, disks, paused)

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> str | None:
        """As IHypervisor says."""
        layout = self.machines.layout(instance_name)
        return await self.ending.stop(layout, self.machines.readable_state(layout), timeout, force)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says."""
        await self.rebooting.reboot(instance, disks)

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        return await self.looking.info(instance_name)

    async def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """As IHypervisor says."""
        return self.looking.owner(instance_name, other_than)

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

    async def check_start(self, instance: InstanceSpec) -> None:
        """As IChecksStart says."""
        await self.planning.check(instance, [], self.machines.layout(instance.name))

    async def console(self, instance: InstanceSpec) -> ToldConsole:
        """As IHypervisor says."""
        return await self.consoles.of(instance)

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        return self.machines.names()

    def watch_ends(self, ended: Callable[[str], None]) -> None:
        """As IEndsByItself says."""
        self.ends.begin(ended)

    async def clear_ended(self, instance_name: str) -> None:
        """As IEndsByItself says."""
        await self.ends.clear(instance_name)

    async def check_link(self, link: NicLink) -> None:
        """As IPlugs says."""
        await self.network.check_link(link)

    async def interface_to(self, instance: InstanceSpec, nic: NicSpec) -> str | None:
        """As ITellsInterfaces says."""
        return self.looking.tap_of(instance.name, nic.uuid)

    # What outlives the runs of an instance

    def owners(self) -> Sequence[str]:
        """As IKeepsFirmware says."""
        return self.firmware.owners()

    async def forget(self, instance: InstanceSpec) -> None:
        """As IKeepsFirmware says."""
        await self.firmware.forget(instance.uuid)

    def names(self, instance: InstanceSpec) -> list[str]:
        """As IKeepsFirmware says."""
        return self.firmware.names(instance.uuid)

    async def kept(self, instance: InstanceSpec) -> Mapping[str, bytes]:
        """As IKeepsFirmware says."""
        return self.firmware.kept(instance.uuid)

    async def idle(self, instance: InstanceSpec) -> Mapping[str, bytes]:
        """As IKeepsFirmware says."""
        async with self.machines.running(instance.name) as running:
            return self.firmware.kept(instance.uuid, running.params(instance))

    async def keep(self, instance: InstanceSpec, files: Mapping[str, bytes]) -> None:
        """As IKeepsFirmware says."""
        await self.firmware.keep(instance.uuid, files)

    # Changes of what runs

    async def check_hotplug(self, instance: InstanceSpec, disks: bool = False, nics: bool = False) -> None:
        """As IHotplug says."""
        await self.plugging.check(instance, disks, nics)

    async def plug_disk(self, instance: InstanceSpec, disk: AttachedDisk) -> None:
        """As IHotplug says."""
        await self.plugging.plug_disk(instance, disk)

    async def unplug_disk(self, instance: InstanceSpec, disk: DiskSpec) -> None:
        """As IHotplug says."""
        await self.plugging.unplug_disk(instance, disk)

    async def plug_nic(self, instance: InstanceSpec, nic: NicSpec, index: int) -> None:
        """As IHotplug says."""
        await self.plugging.plug_nic(instance, nic, index)

    async def unplug_nic(self, instance: InstanceSpec, nic: NicSpec) -> None:
        """As IHotplug says."""
        await self.plugging.unplug_nic(instance, nic)

    async def check_growth(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """As IGrows says."""
        await self.resizing.check_growth(instance, vcpus, memory)

    async def grow(self, instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """As IGrows says."""
        await self.resizing.grow(instance, vcpus, memory)

    async def balloon(self, instance_name: str, memory: int) -> None:
        """As IBalloon says."""
        await self.resizing.balloon(instance_name, memory)

    async def disk_has_grown(self, instance_name: str, disk: DiskSpec) -> bool:
        """As IDiskGrowth says."""
        return await self.resizing.disk_has_grown(instance_name, disk)

    def holds(self, path: str) -> bool:
        """As IDiskHolder says."""
        return self.held.holds(path)

    async def resize_disk(self, path: str, size: int) -> None:
        """As IDiskHolder says."""
        await self.held.resize(path, size)

    async def snapshot_disk(self, path: str, name: str) -> None:
        """As IDiskHolder says."""
        await self.held.snapshot(path, name)

    async def drop_snapshot(self, path: str, name: str) -> None:
        """As IDiskHolder says."""
        await self.held.drop_snapshot(path, name)

    async def disk_formats(self, instance_name: str) -> Mapping[str, str]:
        """As ITellsFormats says."""
        return await self.held.disk_formats(instance_name)

    # Guests that can be asked

    async def freeze(self, instance_name: str, limit: float) -> str:
        """As IFreezes says."""
        return await self.guests.freeze(instance_name, limit)

    async def thaw(self, instance_name: str) -> bool:
        """As IFreezes says."""
        return await self.guests.thaw(instance_name)

    def thaw_all(self) -> None:
        """As IFreezes says."""
        self.guests.thaw_all()

    async def guest_interfaces(self, instance_name: str) -> GuestInterfaces:
        """As ITellsAddresses says."""
        return await self.guests.interfaces(instance_name)

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
        await self.receiving.accept(instance, disks, info, address, tls, disks_come, source)

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
        await self.sending.send(instance, address, live, tls, source, told)

    async def migration_progress(self, instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """As ILiveMigration says."""
        return await self.receiving.missed(instance_name) or await self.sending.progress(instance_name, wait)

    async def migration_side(self, instance_name: str) -> Side | None:
        """As ILiveMigration says."""
        return await self.sending.side(instance_name)

    async def stay_on_source(self, instance_name: str, target_is_gone: bool) -> None:
        """As ILiveMigration says."""
        await self.sending.stay(instance_name, target_is_gone)

    async def leave_source(self, instance_name: str, target_is_gone: bool = False) -> None:
        """As ILiveMigration says."""
        await self.sending.leave(instance_name, target_is_gone)

    async def take_over(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        await self.receiving.take_over(instance_name)

    async def refuse(self, instance_name: str, goes_on_elsewhere: bool = False) -> None:
        """As ILiveMigration says."""
        await self.receiving.refuse(instance_name, goes_on_elsewhere)

    def listen_again(self, alone: Alone) -> None:
        """As IListensForMachines says."""
        self.receiving.coming.listen_again(alone)

    async def accept_again(self, instance: InstanceSpec, address: str) -> None:
        """As IPostcopy says."""
        await self.receiving.accept_again(instance, address)

    async def send_again(self, instance: InstanceSpec, address: str) -> None:
        """As IPostcopy says."""
        await self.sending.send_again(instance, address)

    async def offer_disks(self, instance: InstanceSpec, address: str, source: str = "") -> int:
        """As ICopiesDisks says."""
        return await self.copying.offer(instance, address, source)

    async def copy_disks(
        self,
        instance: InstanceSpec,
        address: str,
        port: int,
        tls: TlsPair | None,
        source: str = "",
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """As ICopiesDisks says."""
        await self.copying.copy(instance, address, port, tls, source, told)

    async def copy_progress(self, instance_name: str) -> DiskCopyProgress:
        """As ICopiesDisks says."""
        return await self.copying.progress(instance_name)
