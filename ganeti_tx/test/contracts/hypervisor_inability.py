"""What a hypervisor says that lacks one of the abilities which only some have."""

from collections.abc import Awaitable
from typing import Any

from msgspec.structs import replace
from twisted.internet.task import Clock

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisor import HypervisorKind
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.grown_disks import GrownDisks
from ganeti_tx.node.guests import Guests
from ganeti_tx.node.hypervisor.copying_interface import ICopiesDisks
from ganeti_tx.node.hypervisor.disk_formats import check_raw
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IBalloon,
    IDiskGrowth,
    IDiskHolder,
    IFreezes,
    IGrows,
    IHotplug,
    IKeepsFirmware,
    ILiveMigration,
    IPostcopy,
    ITellsAddresses,
)
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.live_changes import LiveChanges
from ganeti_tx.node.migrations import Migrations
from ganeti_tx.rpc.calls.disk import BlockdevGrown
from ganeti_tx.rpc.calls.disk_copies import InstanceOfferDisks
from ganeti_tx.rpc.calls.guest import GuestAddresses, InstanceFreeze, InstanceThaw
from ganeti_tx.rpc.calls.hotplug import HotplugSupported, InstanceBalloonMemory, InstanceGrow
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept, KeptNames, KeptOwners
from ganeti_tx.rpc.calls.migration import InstanceAcceptAgain, MigrationInfo
from ganeti_tx.test.contracts import hypervisor_page as rows

DISK = DiskSpec(uuid="d0", dev_type="file", size=8, logical_id=["loop", "/srv/d0"], index=0)


async def inabilities(driver: Any, instance: InstanceSpec) -> dict[str, str]:
    """The reason that a node gives, by the row of what it cannot do. @raise AssertionError: its declaration says that it can."""
    kind = HYPERVISORS[Hypervisor(driver.name)]
    no_disks: Any = None
    instances = Instances({driver.name: driver}, no_disks, "node1.example.com")
    found: dict[str, str] = {}
    if not IHotplug.providedBy(driver):
        assert not kind.hotplug, driver.name
        call = HotplugSupported(instance=instance, disks=True, nics=True)
        reason = await refusal(LiveChanges(instances).supported(call))
        found |= {rows.HOTPLUG_DISK: reason, rows.HOTPLUG_NIC: reason}
    if not IBalloon.providedBy(driver):
        change = InstanceBalloonMemory(instance=instance, memory=64)
        found[rows.BALLOON] = await refusal(LiveChanges(instances).balloon(change))
    if not IGrows.providedBy(driver):
        growth = InstanceGrow(instance=instance, vcpus=2, memory=128)
        found[rows.ADDED] = await refusal(LiveChanges(instances).grow(growth))
    if not IDiskGrowth.providedBy(driver):
        grown = BlockdevGrown(hypervisor=driver.name, owner=instance.name, disk=DISK)
        assert not await GrownDisks({driver.name: driver}).tell(grown), driver.name
        found[rows.GROWN] = "its guest is not told, and sees the new size when it is started again"
    if not IDiskHolder.providedBy(driver):
        found[rows.IMAGES] = unread(kind)
    named: Any = {"instance_name": instance.name, "hypervisor": driver.name}
    guests = Guests({driver.name: driver}, Clock())
    if not IFreezes.providedBy(driver):
        found[rows.FROZEN] = await guests.freeze(InstanceFreeze(**named, limit=1.0))
        assert not await guests.thaw(InstanceThaw(**named)), driver.name
    if not ITellsAddresses.providedBy(driver):
        assert await guests.addresses(GuestAddresses(hypervisor=driver.name, instances=[instance.name])) == {}
        found[rows.ADDRESSES] = "its guests are not asked"
    if not IKeepsFirmware.providedBy(driver):
        assert not kind.keeps, driver.name
        own = replace(instance, hypervisor=driver.name)
        assert await instances.kept(InstanceKept(instance=own)) == {}
        assert await instances.kept_names(KeptNames(instance=own)) == []
        assert await instances.kept_owners(KeptOwners(hypervisor=driver.name)) == []
        await refusal(instances.keep(InstanceKeep(instance=own, files={})))
        found[rows.CARRIED] = "it keeps nothing beside its disks"
    if not ILiveMigration.providedBy(driver):
        assert not kind.migrates, driver.name
        reason = await refusal(Migrations(instances, no_disks).info(MigrationInfo(instance=instance)))
        found |= dict.fromkeys((rows.MIGRATE, rows.MIGRATE_FROZEN, rows.MIGRATE_BACK), reason)
    if not IPostcopy.providedBy(driver):
        again = InstanceAcceptAgain(instance=replace(instance, hypervisor=driver.name), target="192.0.2.1")
        found[rows.POSTCOPY] = await refusal(Migrations(instances, no_disks).accept_again(again))
    if not ICopiesDisks.providedBy(driver):
        assert not kind.copies_disks, driver.name
        offer = InstanceOfferDisks(instance=replace(instance, hypervisor=driver.name), target="192.0.2.1")
        found[rows.COPIED] = await refusal(Migrations(instances, no_disks).offer_disks(offer))
    return found


def unread(kind: HypervisorKind) -> str:
    """What is said of disks that are images: it cannot read them, or is none that reads any."""
    if QCOW2 in kind.formats:
        return "none of its instances has any disk open"
    attached = AttachedDisk(replace(DISK, params={"format": QCOW2}), "/srv/d0")
    try:
        check_raw(attached)
    except HypervisorError as error:
        return str(error)
    raise AssertionError("it was not refused")


async def refusal(asked: Awaitable[object]) -> str:
    """Why that is not done. @raise AssertionError: it is."""
    try:
        await asked
    except HypervisorError as error:
        return str(error)
    raise AssertionError("it was not refused")
