"""WConfD put together: the configuration, the locks, their copies on disk and on other nodes, and the protocol."""

import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTime, IReactorUNIX
from twisted.logger import Logger

from ganeti_tx.config.distribution import Distribution
from ganeti_tx.config.local import LocalConfig
from ganeti_tx.config.reader import Names
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.session import Session
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.config.verify import verify
from ganeti_tx.election.master_rpc import MasterRpc
from ganeti_tx.election.role import MasterRole
from ganeti_tx.errors import ConfigurationError, GanetiError, LockError
from ganeti_tx.locking import snapshot
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.table import LockTable
from ganeti_tx.luxi.limits import MIB, Limits
from ganeti_tx.luxi.server import LuxiFactory
from ganeti_tx.mastership.term import Stamps, claim_term, read_term
from ganeti_tx.mastership.this_node import check_master, check_ssconf_master
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.config_data import encode
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.rpc.measured import MeasuredRpc
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.runtime.entropy import IEntropy, SystemEntropy
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.livelock import FlockLiveness, ILiveness
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.sockets import listen_unix
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.wconfd.description import Description
from ganeti_tx.wconfd.distribute import Distributor
from ganeti_tx.wconfd.mirror import Mirror
from ganeti_tx.wconfd.owners import Owners
from ganeti_tx.wconfd.protocol.methods import server_table
from ganeti_tx.wconfd.protocol.own_methods import OwnMethods
from ganeti_tx.wconfd.protocol.server import WconfDispatch
from ganeti_tx.wconfd.rapi_files import CountedRapiFiles
from ganeti_tx.wconfd.unfinished import UnfinishedJobs
from ganeti_tx.wconfd.unknown_locks import UNKNOWN, UnknownLocks, living_jobs, set_aside

log = Logger()

#: Jobs and luxid run as the same user.
SOCKET_MODE = 0o600
#: locks.data and tempres.data: a job that holds every lock of a large cluster needs less than 1 MiB.
MAX_STATE_BYTES = 64 * 1024 * 1024
#: Seconds for which the end of this daemon waits for a disk that takes no writes.
STOP_LIMIT = 5.0
#: Each job has a connection for short requests and perhaps one that waits, for as long as it runs. The largest request
#: asks for the locks of all instances.
LIMITS = Limits(request=8 * MIB, requests_size=32 * MIB, connections=4096, idle=86400.0, burst=2.0, place=600.0)


@attrs.frozen
class WconfdParts:
    """What WConfD works with; the composition root fills it with real things or with simulated ones.

    The node calls are made once it is known that this node is the master: before that it may have no keys for them.

    @ivar process: this daemon's, unless it is part of one that tells of itself.
    """

    own_name: str
    paths: Paths
    files: IFiles
    clock: IReactorTime
    now: Callable[[], float]
    make_rpc: Callable[[], INodeRpc]
    liveness: ILiveness
    entropy: IEntropy
    tally: Tally = attrs.field(factory=Tally)
    process: OwnProcess | None = None


@attrs.frozen
class Wconfd:
    """A WConfD that is up. `factory` speaks its protocol; `config` is for those in this process."""

    store: ConfigStore
    locks: DeferredLocks
    reservations: Reservations
    distributor: Distributor
    rapi_files: CountedRapiFiles
    owners: Owners
    factory: LuxiFactory
    config: Callable[[Owner], LocalConfig]
    saved: Callable[[float | None], Awaitable[None]]
    readings: Callable[[], Readings]

    async def stop(self) -> None:
        """Break off what can be done again later, and wait for what cannot."""
        self.owners.stop()
        self.rapi_files.stop()
        self.distributor.stop()
        try:
            await self.saved(STOP_LIMIT)
        except OSError as error:
            log.error("ended before it could write {reason}", reason=reason(error))


async def build_wconfd(parts: WconfdParts) -> Wconfd:
    """Load everything and take up what an earlier WConfD left.

    @raise ConfigurationError: this node is not the master of a cluster, or what it keeps cannot be read.
    """
    store = await load_config(parts)
    locks, locks_file, is_unknown = kept_locks(parts)
    reservations, reservations_file = kept_reservations(parts)
    unfinished = UnfinishedJobs(parts.files, parts.paths)
    unfinished.restore(locks, reservations)
    owners = Owners(locks, reservations, parts.liveness, parts.paths.livelock_dir, unfinished.includes)
    owners.start(parts.clock)
    rapi_files = CountedRapiFiles(parts.files, parts.paths, store)
    await rapi_files.load()
    distributor = await begin_distribution(parts, store, rapi_files)
    names = Names()

    def config(owner: Owner) -> LocalConfig:
        return LocalConfig(
            Session(
                store=store,
                reservations=reservations,
                owner=(owner.job_id, owner.livelock),
                entropy=parts.entropy.random_bytes,
                names=names,
                distribution=distribution,
            )
        )

    async def redistribute() -> None:
        await rapi_files.look()
        distributor.redistribute()

    distribution = Distribution(
        redistribute=redistribute,
        when_distributed=distributor.when_distributed,
        undistributed=distributor.unserved,
    )

    async def spread(limit: float) -> list[tuple[str, str]]:
        await rapi_files.look()
        return await distributor.candidates_without(limit)

    async def saved(timeout: float | None) -> None:
        await locks_file.saved(timeout)
        await reservations_file.saved(timeout)

    readings = Description(parts.tally, store, locks, distributor, parts.process).readings
    own = OwnMethods(locks, saved, owners.is_alive, owners.release_dead, is_unknown, readings, spread)
    dispatch = WconfDispatch(config, own, saved)
    factory = LuxiFactory(dispatch, parts.clock, methods=server_table(), limits=LIMITS)
    return Wconfd(store, locks, reservations, distributor, rapi_files, owners, factory, config, saved, readings)


async def load_config(parts: WconfdParts) -> ConfigStore:
    """The configuration; what is wrong in it is logged. @raise ConfigurationError: as `build_wconfd`."""
    check_ssconf_master(parts.files, parts.paths, parts.own_name)
    store = ConfigStore(parts.files, parts.paths, parts.now, tally=parts.tally, ticks=parts.clock.seconds)
    await store.load()
    check_master(store.snapshot, parts.paths, parts.own_name)
    for fault in verify(store.snapshot):
        log.warn("{fault}", fault=fault)
    return store


async def begin_distribution(parts: WconfdParts, store: ConfigStore, rapi_files: CountedRapiFiles) -> Distributor:
    """Bring the configuration, and each new one, to the nodes from now on."""
    cluster = store.snapshot.cluster.uuid
    term = await claim_term(parts.files, parts.paths, cluster, parts.own_name, parts.now())
    # serial numbers order what is sent from here, so time stands still
    stamps = Stamps(term, lambda: 0, lambda: read_term(parts.files, parts.paths))
    rpc = StampedRpc(MeasuredRpc(parts.make_rpc(), parts.tally, parts.clock), stamps)
    distributor = Distributor(
        rpc, parts.clock, parts.files, parts.paths, parts.own_name, tally=parts.tally,
        rapi_files=lambda: rapi_files.present,
    )  # fmt: skip
    store.subscribe(distributor.distribute)
    distributor.distribute(store.snapshot, encode(store.snapshot))
    rapi_files.watch(parts.clock)
    return distributor


def kept_locks(parts: WconfdParts) -> tuple[DeferredLocks, Mirror, Callable[[Owner], bool]]:
    """The locks with the file that keeps them, and who is one of the jobs whose locks nobody knows.

    @raise ConfigurationError: locks.data cannot be read.
    """
    table, unknown = held_locks(parts)

    def held_by_all() -> bytes:
        unknown.keep(table)
        return UNKNOWN if unknown else snapshot.encode(table)

    def is_unknown(owner: Owner) -> bool:
        unknown.keep(table)
        return owner in unknown

    file = Mirror(parts.files, parts.paths.locks_file, held_by_all, parts.clock)
    locks = DeferredLocks(table, parts.clock, file.changed, tally=parts.tally)
    unknown.protect(locks)
    return locks, file, is_unknown


def held_locks(parts: WconfdParts) -> tuple[LockTable, UnknownLocks]:
    """The locks that an earlier WConfD had given out; when its file is damaged, the jobs whose locks are unknown.

    @raise ConfigurationError: locks.data cannot be read.
    """
    path = parts.paths.locks_file
    data = kept(parts, path)
    try:
        return (LockTable() if data is None else snapshot.decode(data)), UnknownLocks()
    except LockError as error:
        if data != UNKNOWN:
            set_aside(parts.files, path, error, parts.now())
    return LockTable(), UnknownLocks(living_jobs(parts.files, parts.paths, parts.liveness.is_alive))


def kept_reservations(parts: WconfdParts) -> tuple[Reservations, Mirror]:
    """The reservations with the file that keeps them. @raise ConfigurationError: tempres.data cannot be read."""
    reservations = earlier_reservations(parts)
    file = Mirror(parts.files, parts.paths.temporary_reservations_file, reservations.encode, parts.clock)
    reservations.on_change = file.changed
    return reservations, file


def earlier_reservations(parts: WconfdParts) -> Reservations:
    """What jobs had reserved; nothing when the file is damaged, for a change that takes what is taken is refused anyway.

    @raise ConfigurationError: tempres.data cannot be read.
    """
    reservations = Reservations()
    path = parts.paths.temporary_reservations_file
    data = kept(parts, path)
    try:
        reservations.restore(b"[]" if data is None else data)
    except ConfigurationError as error:
        set_aside(parts.files, path, error, parts.now())
        return Reservations()
    return reservations


def kept(parts: WconfdParts, path: Any) -> bytes | None:
    """A file of this daemon; None when there is none. @raise ConfigurationError: it cannot be read."""
    try:
        return parts.files.read(path, MAX_STATE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"cannot read {reason(error)}") from None


def real_parts(reactor: IDaemonReactor) -> WconfdParts:
    """WConfD's parts on this machine."""
    paths = Paths.from_environment(os.environ)
    files = RealFiles(reactor_threads(reactor))
    return WconfdParts(
        own_name=own_name(),
        paths=paths,
        files=files,
        clock=reactor,
        now=time.time,
        make_rpc=lambda: node_rpc(reactor, files, paths),
        liveness=FlockLiveness(),
        entropy=SystemEntropy(),
    )


def master_role(parts: WconfdParts, lost: Callable[[GanetiError], None]) -> tuple[MasterRole, WconfdParts]:
    """The master role of the daemon with these parts, and the parts whose node calls notice its loss."""
    role = MasterRole(parts.files, parts.paths, parts.own_name, parts.clock, parts.now, parts.make_rpc, lost)
    return role, attrs.evolve(parts, make_rpc=lambda: MasterRpc(parts.make_rpc(), role.refused))


async def listen(wconfd: Wconfd, reactor: IReactorUNIX, paths: Paths) -> Callable[[], Awaitable[None]]:
    """Answer on the unix socket; gives what ends that and the daemon. @raise GenericError: somebody listens there."""
    port = listen_unix(reactor, paths.wconfd_socket, wconfd.factory, SOCKET_MODE)

    async def stop() -> None:
        await maybeDeferred(port.stopListening)
        await wconfd.stop()

    return stop
