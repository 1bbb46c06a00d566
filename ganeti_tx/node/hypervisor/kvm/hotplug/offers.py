"""What the running QEMU can do, as it says itself; what cannot be done is refused before anything is."""

from collections.abc import Collection

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command import disks, nics
from ganeti_tx.node.hypervisor.kvm.command.places import SCSI_BUS
from ganeti_tx.node.hypervisor.kvm.command.plan import pci_bus
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpError

#: Commands without which nothing can be plugged.
NEEDED = frozenset({"device_add", "device_del", "qom-list", "qom-get", "query-pci"})
FOR_NICS = frozenset({"netdev_add", "netdev_del", "getfd"})
BLOCK_NODES = frozenset({"blockdev-add", "blockdev-del"})
RESTART = "stop the instance, change it, and start it again"


async def check_commands(client: QmpClient, needed: Collection[str]) -> None:
    """@raise HypervisorError: this QEMU does not know one."""
    known = {str(each["name"]) for each in await client.execute("query-commands")}
    if missing := sorted(set(needed) - known):
        raise HypervisorError(f"its QEMU does not know {', '.join(missing)}; {RESTART}")


async def check_disks(client: QmpClient, params: KvmParams) -> None:
    """@raise HypervisorError: disks like those of this instance cannot come and go."""
    kind = params.disk_type
    if kind != "paravirtual" and not kind.startswith("scsi"):
        raise HypervisorError(f"a disk of disk_type {kind} cannot come or go while it runs; {RESTART}")
    await check_commands(client, NEEDED | BLOCK_NODES | ({"add-fd"} if disks.is_confined(params) else set()))
    await _check_bus(client, pci_bus(params) if kind == "paravirtual" else SCSI_BUS)
    await _check_type(client, disks.DEVICES[kind])


async def check_nics(client: QmpClient, params: KvmParams) -> None:
    """@raise HypervisorError: interfaces like those of this instance cannot come and go."""
    kind = params.nic_type
    if kind in nics.ISA_TYPES:
        raise HypervisorError(f"a network interface of nic_type {kind} cannot come or go while it runs; {RESTART}")
    await check_commands(client, NEEDED | FOR_NICS)
    await _check_bus(client, pci_bus(params))
    await _check_type(client, nics.DEVICES.get(kind, kind))


async def _check_bus(client: QmpClient, bus: str) -> None:
    try:
        keeper = await client.execute("qom-get", {"path": bus, "property": "hotplug-handler"})
    except QmpError:
        raise HypervisorError(f"it was started without bus {bus}; {RESTART}")
    if not keeper:
        raise HypervisorError(
            f"on bus {bus} of its machine nothing can come or go, as with acpi=false or a q35 machine; {RESTART}"
        )


async def _check_type(client: QmpClient, driver: str) -> None:
    known = {str(each["name"]) for each in await client.execute("qom-list-types", {"implements": driver})}
    if driver not in known:
        raise HypervisorError(f"its QEMU has no device {driver}; {RESTART}")
