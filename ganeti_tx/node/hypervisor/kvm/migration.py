"""Live migration by QMP: how a running QEMU sends itself, and how another one waits for it.

QEMU itself decides at which moment the machine passes over: the new one runs as soon as it has everything, and the old one
then stands still and knows it (run state "postmigrate").
"""

import socket
from collections.abc import Mapping
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.kvm.migration_capabilities import capabilities, set_capabilities, wanted_capabilities
from ganeti_tx.node.hypervisor.kvm.migration_link import connected
from ganeti_tx.node.hypervisor.kvm.migration_names import MANY_CONNECTIONS, POSTCOPY
from ganeti_tx.node.hypervisor.kvm.powering_off import POWERED_OFF
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.live import SHUT_DOWN

#: Run states of QEMU: waits for a machine; has sent it; is about to have sent it.
INCOMING, SENT, SENDING_LAST = "inmigrate", "postmigrate", "finish-migrate"
#: Those of a guest that somebody has stopped, or has not let begin.
STOPPED = ("paused", "prelaunch")
COMPLETED = "completed"
#: States of a migration in QEMU's words, and what they are to the master.
STATES: Mapping[str, MigrationState] = {
    COMPLETED: MigrationState.COMPLETED,
    "failed": MigrationState.FAILED,
    "cancelled": MigrationState.CANCELLED,
    "postcopy-active": MigrationState.POSTCOPY,
    "postcopy-paused": MigrationState.PAUSED,
    "postcopy-recover": MigrationState.POSTCOPY,
    **dict.fromkeys(
        ("setup", "active", "pre-switchover", "device", "cancelling", "wait-unplug"), MigrationState.ACTIVE
    ),
}
#: Where the new machine runs, or has run, and misses memory that the old one has.
BY_HALVES = (MigrationState.POSTCOPY, MigrationState.PAUSED)
#: What a migration is called that holds before the last of the memory.
HELD = "pre-switchover"
#: After so many passes over the memory the rest is fetched by the machine that runs already (reference: migration_caps).
PASSES_BEFORE_POSTCOPY = 2
#: Milliseconds: the longest that QEMU allows, so that a guest stands still from the first moment on.
ANY_DOWNTIME = 2_000_000
#: Seconds until the other side has shown who it is.
AGREE_LIMIT = 30.0
#: What QEMU calls a migration whose sides have not found each other yet.
NOT_AGREED = "setup"
#: QEMU's name of a connection that it is given.
LINK = "migration"
#: Seconds until a cancelled migration has ended, or one that was sent is there.
SETTLE_LIMIT = 60.0
#: Seconds until QEMU knows how long a migration has taken that is over.
COUNT_LIMIT = 2.0
PAUSE = 0.1


def uri(address: str, params: KvmParams) -> str:
    """Where a machine waits."""
    return f"tcp:{host_port(address, params.migration_port)}"


async def get_ready(client: QmpClient, params: KvmParams, credentials: str = "") -> None:
    """To wait for the machine."""
    await set_capabilities(client, params)
    await client.execute("migrate-set-parameters", {"tls-creds": credentials})


async def listen(client: QmpClient, params: KvmParams, address: str) -> None:
    """Wait for whoever connects. @raise HypervisorError: another one uses the port, or the address is not here."""
    await client.execute("migrate-incoming", {"uri": uri(address, params)})


async def take(client: QmpClient, link: socket.socket) -> None:
    """Take the machine from who has connected; whether they show the right key is found out without standing still."""
    await give(client, link)
    await client.execute("migrate-incoming", {"uri": f"fd:{LINK}"})


async def give(client: QmpClient, link: socket.socket) -> None:
    """Have QEMU know a connection, on which it will never wait."""
    await client.execute("getfd", {"fdname": LINK}, descriptor=link.fileno())
    link.setblocking(False)  # QEMU has it wait again, and both sides have one and the same


async def check_can_go(client: QmpClient) -> None:
    """@raise HypervisorError: it is being migrated already, or its guest, which ran when the job began, has shut down."""
    if await side_of(client) is not Side.RUNS:
        raise HypervisorError("it is being migrated already")
    if await is_powered_off(client):
        raise HypervisorError(SHUT_DOWN)


async def is_powered_off(client: QmpClient) -> bool:
    """Whether the guest has shut down, and its QEMU is there yet."""
    return await run_state(client) in POWERED_OFF


async def set_limits(client: QmpClient, params: KvmParams, live: bool) -> None:
    """How fast it may be sent, and how long it may stand still."""
    bandwidth = params.migration_bandwidth << 20
    limits: dict[str, int] = {
        "max-bandwidth": bandwidth,
        "downtime-limit": params.migration_downtime if live else ANY_DOWNTIME,
    }
    if any(name in POSTCOPY for name in wanted_capabilities(params)):
        limits["max-postcopy-bandwidth"] = bandwidth
    await client.execute("migrate-set-parameters", limits)


async def send(client: QmpClient, params: KvmParams, address: str, live: bool) -> None:
    """Begin, to whoever is there; QEMU does the rest by itself."""
    await set_capabilities(client, params)
    await set_limits(client, params, live)
    await client.execute("migrate", {"uri": uri(address, params)})


async def send_to_known(
    client: QmpClient,
    clock: IReactorTime,
    params: KvmParams,
    address: str,
    live: bool,
    known: Mapping[str, str],
    source: str = "",
) -> None:
    """Begin, once the other side has shown who it is.

    @param known: the parameters by which QEMU knows it, empty where anybody does. @param source: by which address that
        knows this node.
    @raise HypervisorError: there is nobody, it says nothing, or it is somebody else. The guest runs meanwhile.
    """
    await set_capabilities(client, params)
    await set_limits(client, params, live)
    await client.execute("migrate-set-parameters", known)
    if MANY_CONNECTIONS.intersection(wanted_capabilities(params)):
        await client.execute("migrate", {"uri": uri(address, params)})
    else:
        await send_over_link(client, clock, params, address, source)


async def send_over_link(
    client: QmpClient, clock: IReactorTime, params: KvmParams, address: str, source: str, **more: bool
) -> None:
    """See `migration_link`. @param more: what else QEMU is told. @raise HypervisorError: see `send_to_known`."""
    async with connected(clock, address, params.migration_port, source) as link:
        await give(client, link)
        await client.execute("migrate", {"uri": f"fd:{LINK}", **more})
        for _ in range(int(AGREE_LIMIT / PAUSE)):
            if (await client.execute("query-migrate")).get("status") != NOT_AGREED:
                return
            await deferLater(clock, PAUSE)
        link.shutdown(socket.SHUT_RDWR)
    raise HypervisorError(f"who waits at {uri(address, params)} has not shown who it is within {AGREE_LIMIT:g} s")


def is_over(told: Mapping[str, Any]) -> bool:
    """Whether nothing is being sent any more, or it holds; what `query-migrate` tells, or an event of the migration."""
    status = str(told.get("status", "none"))
    return status == HELD or STATES.get(status) not in (MigrationState.ACTIVE, MigrationState.POSTCOPY)


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


async def holds(client: QmpClient) -> bool:
    """Whether the machine stands still, and all but its last memory is sent."""
    told: Mapping[str, Any] = await client.execute("query-migrate")
    return told.get("status") == HELD


async def go_on(client: QmpClient) -> None:
    """Send the rest of one that holds."""
    await client.execute("migrate-continue", {"state": HELD})


async def progress(client: QmpClient, clock: IReactorTime) -> MigrationProgress:
    """How far it is; where it is to, the new machine is let run before all is there."""
    told = await counted(client, clock)
    word = str(told.get("status", "none"))
    ram: Mapping[str, Any] = told.get("ram", {})
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
        remaining_ram=ram.get("remaining"),
        passes=ram.get("dirty-sync-count", 0),
        speed=round(ram.get("mbps", 0) * 1_000_000 / 8),
        dirty_rate=ram.get("dirty-pages-rate", 0) * ram.get("page-size", 0),
    )


async def counted(client: QmpClient, clock: IReactorTime) -> Mapping[str, Any]:
    """What `query-migrate` tells. A migration may be completed a moment before its times are known."""
    told: Mapping[str, Any] = await client.execute("query-migrate")
    for _ in range(int(COUNT_LIMIT / PAUSE)):
        if told.get("status") != COMPLETED or told.get("total-time") or told.get("downtime"):
            break
        await deferLater(clock, PAUSE)
        told = await client.execute("query-migrate")
    return told


async def run_state(client: QmpClient) -> str:
    """QEMU's."""
    return str((await client.execute("query-status"))["status"])


async def is_stopped(client: QmpClient) -> bool:
    """Whether somebody has stopped the guest, or has not let it begin."""
    return await run_state(client) in STOPPED


async def side_of(client: QmpClient) -> Side:
    """What this QEMU has of its machine."""
    state = await run_state(client)
    if state == INCOMING:
        return Side.INCOMING
    if state == SENT:
        return Side.SENT
    told = STATES.get((await client.execute("query-migrate")).get("status"))
    if told in BY_HALVES:
        return Side.FETCHED if state == SENDING_LAST else Side.FETCHING
    return Side.SENDING if told is MigrationState.ACTIVE else Side.RUNS


async def stay(client: QmpClient, clock: IReactorTime, target_is_gone: bool, stopped: bool) -> None:
    """Cancel what is under way, and let the machine run here, unless its guest was `stopped` before.

    @raise HypervisorError: it may run elsewhere.
    """
    for _ in range(int(SETTLE_LIMIT / PAUSE)):
        told = STATES.get((await client.execute("query-migrate")).get("status"))
        if told is not MigrationState.ACTIVE:
            break
        await client.execute("migrate_cancel")
        await deferLater(clock, PAUSE)
    state = await run_state(client)
    if told in BY_HALVES:
        raise HypervisorError(
            "it has run elsewhere since, and what is here is too old to go on; if it is lost there, stop it here, and start it"
        )
    if state == SENT and not target_is_gone:
        raise HypervisorError("all of it was sent, it may run elsewhere")
    if state in (SENT, SENDING_LAST):
        if stopped:  # QEMU knows no other way back to its disks
            await run_for_a_moment(client)
        else:
            await client.execute("cont")


async def run_for_a_moment(client: QmpClient) -> None:
    """Let a stopped guest run, and stop it again, as QEMU does some things only when a guest begins to run."""
    await client.execute("cont")
    await client.execute("stop")


async def arrive(client: QmpClient, clock: IReactorTime, stopped: bool) -> None:
    """Wait until all is there, and the machine runs, unless its guest was `stopped` before.

    @raise HypervisorError: it does not come.
    """
    for _ in range(int(SETTLE_LIMIT / PAUSE)):
        if (state := await run_state(client)) != INCOMING:
            break
        await deferLater(clock, PAUSE)
    else:
        raise HypervisorError("it has not come in full")
    if await side_of(client) is Side.FETCHING:
        raise HypervisorError("it runs, but some of its memory is still on its old node")
    if state in STOPPED and not stopped:
        await client.execute("cont")


async def is_refused(client: QmpClient, stopped: bool) -> bool:
    """Keep a machine that has not come yet from running here; False if it has come, and then it runs, unless it was `stopped`."""
    if await run_state(client) != INCOMING:
        return False  # nothing is done to it: one that misses memory would answer no more
    await client.execute("stop")  # while it waits, QEMU takes this as: do not run when it has come
    if await run_state(client) == INCOMING:
        return True
    if not stopped:
        await client.execute("cont")
    return False
