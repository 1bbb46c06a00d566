"""Keeping a machine to some of the node's processors."""

from collections.abc import Sequence

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.affinity import Mask, masks_for
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient


def masks_of(cpu_mask: str, vcpus: int) -> Sequence[Mask]:
    """One for each virtual processor. @raise HypervisorError: there are more or fewer masks than those."""
    try:
        return masks_for(cpu_mask, vcpus)
    except ValueError as error:
        raise HypervisorError(f"cpu_mask: {error}")


async def pin(processes: IQemuProcesses, client: QmpClient, pid: int, cpu_mask: str, vcpus: int) -> None:
    """One mask for all holds for the whole process; else each virtual processor has its own, and the rest of QEMU any.

    @raise HypervisorError: none of these processors is here, or there are more or fewer masks than virtual processors.
    """
    masks = masks_of(cpu_mask, vcpus)
    if all(mask is None for mask in masks):
        return
    if ":" not in cpu_mask:
        pinned = [(thread, masks[0]) for thread in processes.threads(pid)]
    else:
        cpus = await client.execute("query-cpus-fast")
        pinned = [(int(cpu["thread-id"]), mask) for cpu, mask in zip(cpus, masks, strict=False)]
    for thread, mask in pinned:
        if mask is not None:
            try:
                processes.pin(thread, mask)
            except ProcessLookupError:
                continue  # a thread that had little to do
            except OSError as error:
                raise HypervisorError(f"cpu_mask {cpu_mask}: {error.strerror}")


async def pin_instance(
    machines: OwnMachines, layout: InstanceLayout, client: QmpClient, cpu_mask: str, vcpus: int
) -> None:
    """The same of an instance, unless it has ended. @raise HypervisorError: see `pin`."""
    if (pid := machines.pid(layout)) is not None:
        await pin(machines.processes, client, pid, cpu_mask, vcpus)
