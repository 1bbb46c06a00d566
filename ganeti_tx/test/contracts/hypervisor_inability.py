"""What a hypervisor says that lacks one of the abilities which only some have."""

from collections.abc import Awaitable
from typing import Any

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.grown_disks import GrownDisks
from ganeti_tx.node.hypervisor.interfaces import IBalloon, IDiskGrowth, IGrows, IHotplug, ILiveMigration
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.live_changes import LiveChanges
from ganeti_tx.node.migrations import Migrations
from ganeti_tx.rpc.calls.disk import BlockdevGrown
from ganeti_tx.rpc.calls.hotplug import HotplugSupported, InstanceBalloonMemory, InstanceGrow
from ganeti_tx.rpc.calls.migration import MigrationInfo
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
    if not ILiveMigration.providedBy(driver):
        assert not kind.migrates, driver.name
        reason = await refusal(Migrations(instances).info(MigrationInfo(instance=instance)))
        found |= dict.fromkeys((rows.MIGRATE, rows.MIGRATE_FROZEN, rows.MIGRATE_BACK), reason)
    return found


async def refusal(asked: Awaitable[object]) -> str:
    """Why that is not done. @raise AssertionError: it is."""
    try:
        await asked
    except HypervisorError as error:
        return str(error)
    raise AssertionError("it was not refused")
