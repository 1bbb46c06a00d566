"""Keeping a machine to some of the node's processors."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.affinity import masks_for
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient


async def pin(processes: IQemuProcesses, client: QmpClient, pid: int, cpu_mask: str, vcpus: int) -> None:
    """One mask for all holds for the whole process; else each virtual processor has its own, and the rest of QEMU any.

    @raise HypervisorError: none of these processors is here, or there are more or fewer masks than virtual processors.
    """
    try:
        masks = masks_for(cpu_mask, vcpus)
    except ValueError as error:
        raise HypervisorError(f"cpu_mask: {error}")
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
