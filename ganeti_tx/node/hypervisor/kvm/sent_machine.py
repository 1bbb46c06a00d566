"""What a machine is like that goes to another node, as its QEMU tells; and whether this node can have it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.printable import printable
from ganeti_tx.node.hypervisor.kvm import sent_bounds as bounds
from ganeti_tx.node.hypervisor.kvm.hotplug.growth import plugged_vcpus
from ganeti_tx.node.hypervisor.kvm.machine_type import machine_type
from ganeti_tx.node.hypervisor.kvm.machine_words import checked_type
from ganeti_tx.node.hypervisor.kvm.migration import is_stopped
from ganeti_tx.node.hypervisor.kvm.migration_capabilities import capabilities
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.runtime.files import IFiles

CPUINFO = Path("/proc/cpuinfo")
MAX_CPUINFO = 1 << 22
#: Of why it is not understood.
MAX_REASON = 300


class SentMachine(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine must be like that takes over: as the running one was started, and what was plugged since.

    @ivar machine: QEMU's type with its version, and nothing beside it (see `machine_words`).
    @ivar cpu_flags: those of the processor, where the guest sees it as it is.
    @ivar capabilities: what its QEMU could do for a migration.
    @ivar dimms: see `InstanceRuntime`. @ivar plugged_vcpus: of its processors, how many came while it ran.
    @ivar stopped: whether somebody had stopped its guest, so that it does not run on the new node, either.
    """

    version: bounds.Version
    machine: str
    acceleration: bounds.Word
    memory: bounds.Memory
    vcpus: bounds.Vcpus
    disks: bounds.Words
    nics: bounds.Words
    params: bounds.Params
    places: bounds.Places
    cpu_flags: bounds.Words
    capabilities: bounds.Words
    dimms: bounds.Dimms = []
    plugged_vcpus: bounds.PluggedVcpus = 0
    stopped: bool = False


def machine_of(info: Mapping[str, Any]) -> SentMachine:
    """@raise HypervisorError: the other node told something else, or what no machine is."""
    try:
        machine = msgspec.convert(info, SentMachine)
    except msgspec.ValidationError as error:
        why = printable(str(error), MAX_REASON)
        raise HypervisorError(f"what the other node tells of the running machine is not understood: {why}") from None
    checked_type(machine.machine)
    return machine


async def describe(
    client: QmpClient, state: InstanceRuntime, params: KvmParams, wanted: Sequence[str], files: IFiles
) -> SentMachine:
    """The running machine, which was started with `params`. @raise HypervisorError: it lacks what is wanted, or cannot go."""
    able = await capabilities(client)
    if missing := [name for name in wanted if name not in able]:
        raise HypervisorError(
            f"migration_caps: QEMU does not know {', '.join(missing)}; it knows {', '.join(sorted(able))}"
        )
    if blocked := (await client.execute("query-migrate")).get("blocked-reasons"):
        raise HypervisorError(f"QEMU cannot migrate it: {'; '.join(map(str, blocked))}")
    host = params.cpu_type.split(",")[0] in ("host", "max") and state.acceleration == "kvm"
    return SentMachine(
        version=client.version or (0, 0, 0),
        machine=await machine_type(client),
        acceleration=state.acceleration,
        memory=state.memory,
        vcpus=state.vcpus,
        disks=[disk.uuid for disk in state.disks],
        nics=[nic.uuid for nic in state.nics],
        params=msgspec.to_builtins(params),
        places=msgspec.convert(state.places, bounds.Places),
        cpu_flags=sorted(cpu_flags(files)) if host else [],
        capabilities=sorted(able),
        dimms=list(state.dimms),
        plugged_vcpus=await plugged_vcpus(client) if params.max_vcpus else 0,
        stopped=await is_stopped(client),
    )


def check_told(told: Mapping[str, Any] | None, stopped: bool) -> None:
    """@raise HypervisorError: its new node was told otherwise whether its guest is stopped, and would let it be as it was told."""
    if told is not None and machine_of(told).stopped is not stopped:
        raise HypervisorError(
            f"its guest was {'stopped' if stopped else 'let run'} since the migration was begun; migrate it again"
        )


def cpu_flags(files: IFiles) -> set[str]:
    """What the processor here can do."""
    try:
        lines = files.read(CPUINFO, MAX_CPUINFO).decode("ascii", "replace").splitlines()
    except OSError:
        return set()
    return {word for line in lines if line.startswith("flags") for word in line.partition(":")[2].split()}


def check_here(machine: SentMachine, acceleration: str, files: IFiles) -> None:
    """@raise HypervisorError: this node cannot run what that one runs."""
    if acceleration != machine.acceleration:
        raise HypervisorError(
            f"it runs under {machine.acceleration}, but this node has {acceleration}; fail it over instead"
        )
    if missing := set(machine.cpu_flags) - (cpu_flags(files) if machine.cpu_flags else set()):
        raise HypervisorError(
            f"the processor here lacks {', '.join(sorted(missing))}, which its guest uses; set a cpu_type that all nodes have"
        )


def picked(kind: str, uuids: Sequence[str], among: Mapping[str, Any]) -> list[Any]:
    """The devices that the running machine has, in its order. @raise HypervisorError: the configuration has others."""
    if sorted(uuids) != sorted(among):
        raise HypervisorError(
            f"it runs with other {kind} than it is configured with; restart it, or plug them, before it is migrated"
        )
    return [among[uuid] for uuid in uuids]
