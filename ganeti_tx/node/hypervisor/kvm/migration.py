"""Live migration by QMP: what a running QEMU tells, how it sends itself, and how another one waits for it.

QEMU itself decides at which moment the machine passes over: the new one runs as soon as it has everything, and the old one
then stands still and knows it (run state "postmigrate").
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.kvm.machine_type import machine_type
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.runtime.files import IFiles

#: Run states of QEMU: waits for a machine; has sent it; is about to have sent it.
INCOMING, SENT, SENDING_LAST = "inmigrate", "postmigrate", "finish-migrate"
#: States of a migration in QEMU's words, and what they are to the master.
STATES: Mapping[str, MigrationState] = {
    "completed": MigrationState.COMPLETED,
    "failed": MigrationState.FAILED,
    "cancelled": MigrationState.CANCELLED,
    "postcopy-active": MigrationState.POSTCOPY,
    "postcopy-paused": MigrationState.POSTCOPY,
    "postcopy-recover": MigrationState.POSTCOPY,
    **dict.fromkeys(
        ("setup", "active", "pre-switchover", "device", "cancelling", "wait-unplug"), MigrationState.ACTIVE
    ),
}
#: The old machine hears from the new one that all has arrived, before it gives itself up.
OWN_CAPABILITIES = ("return-path", "events")
POSTCOPY = ("postcopy-ram", "x-postcopy-ram")
#: After so many passes over the memory the rest is fetched by the machine that runs already (reference: migration_caps).
PASSES_BEFORE_POSTCOPY = 2
#: Milliseconds: the longest that QEMU allows, so that a guest stands still from the first moment on.
ANY_DOWNTIME = 2_000_000
#: Seconds until a cancelled migration has ended, or one that was sent is there.
SETTLE_LIMIT = 60.0
PAUSE = 0.1
CPUINFO = Path("/proc/cpuinfo")
MAX_CPUINFO = 1 << 22


class SentMachine(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine must be like that takes over: as the running one was started, and what was plugged since.

    @ivar machine: QEMU's type with its version.
    @ivar cpu_flags: those of the processor, where the guest sees it as it is.
    @ivar capabilities: what its QEMU could do for a migration.
    """

    version: tuple[int, int, int]
    machine: str
    acceleration: str
    memory: int
    vcpus: int
    disks: list[str]
    nics: list[str]
    params: dict[str, Any]
    places: dict[str, dict[str, str | int]]
    cpu_flags: list[str]
    capabilities: list[str]
    dimms: list[int] = []


def machine_of(info: Mapping[str, Any]) -> SentMachine:
    """@raise HypervisorError: the other node told something else."""
    try:
        return msgspec.convert(info, SentMachine)
    except msgspec.ValidationError as error:
        raise HypervisorError(f"what the other node tells of the running machine is not understood: {error}")


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
        places={device: dict(place) for device, place in state.places.items()},
        cpu_flags=sorted(cpu_flags(files)) if host else [],
        capabilities=sorted(able),
        dimms=list(state.dimms),
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
    if set(uuids) != set(among):
        raise HypervisorError(
            f"it runs with other {kind} than it is configured with; restart it, or plug them, before it is migrated"
        )
    return [among[uuid] for uuid in uuids]


def wanted_capabilities(params: KvmParams) -> list[str]:
    """Those that the parameters name."""
    return [name for name in params.migration_caps.split(":") if name]


async def capabilities(client: QmpClient) -> dict[str, bool]:
    """What this QEMU can do, and whether it will."""
    return {each["capability"]: each["state"] for each in await client.execute("query-migrate-capabilities")}


async def set_capabilities(client: QmpClient, params: KvmParams) -> None:
    """Switch on what is wanted, and off what was wanted once. @raise HypervisorError: this QEMU does not know it."""
    able = await capabilities(client)
    wanted = wanted_capabilities(params)
    if missing := [name for name in wanted if name not in able]:
        raise HypervisorError(f"migration_caps: QEMU here does not know {', '.join(missing)}")
    on = {*wanted, *(name for name in OWN_CAPABILITIES if name in able)}
    changes = [{"capability": name, "state": name in on} for name, state in able.items() if state is not (name in on)]
    if changes:
        await client.execute("migrate-set-capabilities", {"capabilities": changes})


def uri(address: str, params: KvmParams) -> str:
    """Where a machine waits."""
    return f"tcp:{host_port(address, params.migration_port)}"


async def listen(client: QmpClient, params: KvmParams, address: str) -> None:
    """Wait for the machine. @raise HypervisorError: another one uses the port, or the address is not here."""
    await set_capabilities(client, params)
    await client.execute("migrate-incoming", {"uri": uri(address, params)})


async def send(client: QmpClient, params: KvmParams, address: str, live: bool) -> None:
    """Begin; QEMU does the rest by itself."""
    if await side_of(client) is not Side.RUNS:
        raise HypervisorError("it is being migrated already")
    await set_capabilities(client, params)
    bandwidth = params.migration_bandwidth << 20
    limits: dict[str, int] = {
        "max-bandwidth": bandwidth,
        "downtime-limit": params.migration_downtime if live else ANY_DOWNTIME,
    }
    if any(name in POSTCOPY for name in wanted_capabilities(params)):
        limits["max-postcopy-bandwidth"] = bandwidth
    await client.execute("migrate-set-parameters", limits)
    await client.execute("migrate", {"uri": uri(address, params)})


def is_over(told: Mapping[str, Any]) -> bool:
    """Whether nothing is being sent any more; what `query-migrate` tells, or an event of the migration."""
    return STATES.get(told.get("status", "none")) not in (MigrationState.ACTIVE, MigrationState.POSTCOPY)


async def wait_for_end(client: QmpClient, limit: float) -> None:
    """Returns when a migration is over, or after so many seconds. QEMU says so itself and is not asked meanwhile."""
    ended = client.next_event("MIGRATION", limit, is_over)
    try:
        if not is_over(await client.execute("query-migrate")):
            await ended
    except HypervisorError:
        pass  # it goes on; or QEMU is gone, as the next look finds
    finally:
        ended.addErrback(lambda failure: None)
        ended.cancel()


async def progress(client: QmpClient) -> MigrationProgress:
    """How far it is; where it is to, the new machine is let run before all is there."""
    told = await client.execute("query-migrate")
    word = str(told.get("status", "none"))
    ram: Mapping[str, int] = told.get("ram", {})
    if word == "active" and ram.get("dirty-sync-count", 0) >= PASSES_BEFORE_POSTCOPY:
        able = await capabilities(client)
        if any(able.get(name) for name in POSTCOPY):
            await client.execute("migrate-start-postcopy")
    return MigrationProgress(
        STATES.get(word, MigrationState.FAILED),
        ram.get("transferred"),
        ram.get("total"),
        told.get("total-time"),
        told.get("downtime"),
        str(told.get("error-desc", "" if word in STATES else "nothing is being sent")),
    )


async def run_state(client: QmpClient) -> str:
    """QEMU's."""
    return str((await client.execute("query-status"))["status"])


async def side_of(client: QmpClient) -> Side:
    """What this QEMU has of its machine."""
    state = await run_state(client)
    if state == INCOMING:
        return Side.INCOMING
    if state == SENT:
        return Side.SENT
    status = (await client.execute("query-migrate")).get("status")
    return Side.SENDING if STATES.get(status) in (MigrationState.ACTIVE, MigrationState.POSTCOPY) else Side.RUNS


async def stay(client: QmpClient, clock: IReactorTime, target_is_gone: bool) -> None:
    """Cancel what is under way, and let the machine run here. @raise HypervisorError: it may run elsewhere."""
    for _ in range(int(SETTLE_LIMIT / PAUSE)):
        told = STATES.get((await client.execute("query-migrate")).get("status"))
        if told is not MigrationState.ACTIVE:
            break
        await client.execute("migrate_cancel")
        await deferLater(clock, PAUSE)
    state = await run_state(client)
    if (state == SENT or told is MigrationState.POSTCOPY) and not target_is_gone:
        raise HypervisorError("all of it was sent, it may run elsewhere")
    if state in (SENT, SENDING_LAST):
        await client.execute("cont")


async def arrive(client: QmpClient, clock: IReactorTime) -> None:
    """Wait until all is there, and the machine runs. @raise HypervisorError: it does not come."""
    for _ in range(int(SETTLE_LIMIT / PAUSE)):
        if (state := await run_state(client)) != INCOMING:
            break
        await deferLater(clock, PAUSE)
    else:
        raise HypervisorError("it has not come in full")
    if state in ("paused", "prelaunch"):
        await client.execute("cont")


async def is_refused(client: QmpClient) -> bool:
    """Keep a machine that has not come yet from running here; False if it has come, and then it runs."""
    await client.execute("stop")  # while it waits, QEMU takes this as: do not run when it has come
    if await run_state(client) == INCOMING:
        return True
    await client.execute("cont")
    return False
