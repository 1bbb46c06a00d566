"""Where a device goes that comes while QEMU runs: where it was before, or to the first place that is free now."""

from collections.abc import Callable

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.places import Place, Places, slot_of
from ganeti_tx.node.hypervisor.kvm.command.plan import pci_bus
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance


async def place_for(
    machine: RunningInstance, params: KvmParams, device: str, choose: Callable[[Places], Place]
) -> Place:
    """QEMU itself tells which slots are taken, as an administrator's own devices may have some.

    @raise HypervisorError: no slot is free.
    """
    bus = pci_bus(params)
    present = await machine.devices()
    given = {each: place for each, place in machine.state.places.items() if each in present}
    occupied = await slots_in_use(machine)
    former = machine.state.places.get(device)
    taken = former in given.values() or (former and former.get("bus") == bus and slot_of(former) in occupied)
    if former is not None and not taken:
        return former
    return choose(Places(bus, params.kvm_pci_reservations, given, occupied))


async def slots_in_use(machine: RunningInstance) -> frozenset[int]:
    """Of the first PCI bus."""
    buses = await machine.client.execute("query-pci")
    return frozenset(int(each["slot"]) for bus in buses if bus["bus"] == 0 for each in bus["devices"])
