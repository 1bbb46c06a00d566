"""Processors and memory modules that come while QEMU runs. None goes: a guest that uses them does not let them go for sure."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.affinity import masks_for
from ganeti_tx.node.hypervisor.kvm.balloon import MiB
from ganeti_tx.node.hypervisor.kvm.command.machine import MAX_DIMMS, dimm, memory_backend
from ganeti_tx.node.hypervisor.kvm.command.options import arguments
from ganeti_tx.node.hypervisor.kvm.hotplug.offers import RESTART
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.running import DEVICES, RunningInstance

#: What Linux takes in one piece at least, in MiB.
MEMORY_STEP = 128

Slot = Mapping[str, Any]


def check(machine: RunningInstance, params: KvmParams, vcpus: int, memory: int) -> None:
    """@raise HypervisorError: it has more already, or was not started for so much."""
    has, name = machine.state, machine.layout.name
    if vcpus < has.vcpus or memory < has.memory:
        raise HypervisorError(
            f"instance {name} has {has.vcpus} processors and {has.memory} MiB, and can lose none while it runs; {RESTART}"
        )
    if vcpus > max(has.vcpus, params.max_vcpus or 0):
        raise HypervisorError(
            f"instance {name} was started for at most {params.max_vcpus or has.vcpus} processors; set max_vcpus, and restart it"
        )
    if memory > max(has.memory, params.max_memory or 0):
        raise HypervisorError(
            f"instance {name} was started for at most {params.max_memory or has.memory} MiB; set max_memory, and restart it"
        )
    if (memory - has.memory) % MEMORY_STEP:
        raise HypervisorError(
            f"the memory of instance {name} grows by steps of {MEMORY_STEP} MiB, not from {has.memory} to {memory} MiB"
        )
    if memory > has.memory and len(has.dimms) >= MAX_DIMMS:
        raise HypervisorError(f"the memory of instance {name} has grown {MAX_DIMMS} times already; {RESTART}")


async def add_memory(machine: RunningInstance, params: KvmParams, memory: int) -> None:
    """One module more. What fails leaves none."""
    size = memory - machine.state.memory
    if not size:
        return
    number = len(machine.state.dimms)
    backend, device = memory_backend(params, number), dimm(number)
    values = arguments(**{**backend, "driver": None}, qom_type=backend["driver"], size=size * MiB)
    await machine.client.execute("object-add", values)
    plugged = False
    try:
        await machine.client.execute("device_add", arguments(**device))
        plugged = True
    finally:
        if not plugged:
            await machine.client.execute("object-del", {"id": backend["id"]})
    await machine.remember(memory=memory, dimms=[*machine.state.dimms, size])


async def add_vcpus(machine: RunningInstance, vcpus: int) -> None:
    """The next ones in the order in which QEMU begins with them, so that a machine which takes over is the same."""
    slots = await cpu_slots(machine.client)
    for number, slot in enumerate(slots[:vcpus]):
        if "qom-path" not in slot:
            values = {"driver": slot["type"], "id": f"cpu-{number}", **slot["props"]}
            await machine.client.execute("device_add", values)
            await machine.remember(vcpus=number + 1)


async def plugged_vcpus(client: QmpClient) -> int:
    """How many came while it ran, here or on a node where it was before."""
    return sum(str(slot.get("qom-path")).startswith(f"{DEVICES}/") for slot in await cpu_slots(client))


async def cpu_slots(client: QmpClient) -> Sequence[Slot]:
    """The places of processors, in their order; that of one that is there has a "qom-path"."""
    slots: list[Slot] = await client.execute("query-hotpluggable-cpus")
    return sorted(
        slots, key=lambda slot: [slot["props"].get(part, 0) for part in ("socket-id", "core-id", "thread-id")]
    )


def check_masks(params: KvmParams, vcpus: int) -> None:
    """@raise HypervisorError: the mask of each processor was given, and there are none for new ones."""
    try:
        masks_for(params.cpu_mask, vcpus)
    except ValueError as error:
        raise HypervisorError(f"cpu_mask: {error}")
