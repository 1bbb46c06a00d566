"""WConfD put together: the configuration, the locks, their copies on disk and on other nodes, and the protocol."""

import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.config.local import LocalConfig
from ganeti_tx.config.mastership import check_master, check_ssconf_master
from ganeti_tx.config.reader import LocalReader, Names
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError, GanetiError, LockError
from ganeti_tx.locking import snapshot
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.table import LockTable
from ganeti_tx.luxi.server import Limits, LuxiFactory
from ganeti_tx.mastership.loyalty import LoyalRpc
from ganeti_tx.mastership.role import MasterRole
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.entropy import IEntropy, SystemEntropy
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.livelock import FlockLiveness, ILiveness
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import own_name
from ganeti_tx.runtime.sockets import listen_unix
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.wconf.methods import server_table
from ganeti_tx.wconf.server import WconfDispatch
from ganeti_tx.wconfd.distribute import Distributor
from ganeti_tx.wconfd.mirror import Mirror
from ganeti_tx.wconfd.owners import Owners

log = Logger()

#: Jobs and luxid run as the same user.
SOCKET_MODE = 0o600
#: locks.data and tempres.data: a job that holds every lock of a large cluster needs less than 1 MiB.
MAX_STATE_BYTES = 64 * 1024 * 1024
#: Each job has a connection for short requests and perhaps one that waits, for as long as it runs.
LIMITS = Limits(connections=4096, idle=86400.0)


@attrs.frozen
class WconfdParts:
    """What WConfD works with; the composition root fills it with real things or with simulated ones.

    The node calls are made once it is known that this node is the master: before that it may have no keys for them.
    """

    own_name: str
    paths: Paths
    files: IFiles
    clock: IReactorTime
    now: Callable[[], float]
    make_rpc: Callable[[], INodeRpc]
    liveness: ILiveness
    entropy: IEntropy


@attrs.frozen
class Wconfd:
    """A WConfD that is up. `factory` speaks its protocol; `config` is for those in this process."""

    store: ConfigStore
    reader: LocalReader
    locks: DeferredLocks
    reservations: Reservations
    distributor: Distributor
    owners: Owners
    factory: LuxiFactory
    config: Callable[[Owner], LocalConfig]
    saved: Callable[[], Awaitable[None]]

    async def stop(self) -> None:
        """Break off what can be done again later, and wait for what cannot."""
        self.owners.stop()
        self.distributor.stop()
        await self.saved()


async def build_wconfd(parts: WconfdParts) -> Wconfd:
    """Load everything and take up what an earlier WConfD left.

    @raise ConfigurationError: this node is not the master of a cluster, or what it keeps cannot be read.
    """
    check_ssconf_master(parts.files, parts.paths, parts.own_name)
    store = ConfigStore(parts.files, parts.paths, parts.now)
    await store.load()
    check_master(store.snapshot, parts.paths, parts.own_name)
    for fault in verify(store.snapshot):
        log.warn("{fault}", fault=fault)

    table = held_locks(parts)
    locks_file = Mirror(parts.files, parts.paths.locks_file, lambda: snapshot.encode(table))
    locks = DeferredLocks(table, parts.clock, locks_file.changed)
    reservations = kept_reservations(parts)
    reservations_file = Mirror(parts.files, parts.paths.temporary_reservations_file, reservations.encode)
    reservations.on_change = reservations_file.changed
    owners = Owners(locks, reservations, parts.liveness, parts.paths.livelock_dir)
    owners.start(parts.clock)

    distributor = Distributor(parts.make_rpc(), parts.clock, parts.files, parts.paths, parts.own_name)
    store.subscribe(distributor.distribute)
    distributor.distribute(store.snapshot)
    names = Names()

    def config(owner: Owner) -> LocalConfig:
        key = (owner.job_id, owner.livelock)
        return LocalConfig(store, reservations, key, parts.entropy.random_bytes, distributor.when_distributed, names)

    async def saved() -> None:
        await locks_file.saved()
        await reservations_file.saved()

    dispatch = WconfDispatch(config, locks, saved, owners.is_alive, owners.bury)
    factory = LuxiFactory(dispatch, parts.clock, methods=server_table(), limits=LIMITS)
    reader = LocalReader(store, names)
    return Wconfd(store, reader, locks, reservations, distributor, owners, factory, config, saved)


def held_locks(parts: WconfdParts) -> LockTable:
    """The locks that an earlier WConfD had given out. @raise ConfigurationError: locks.data cannot be read."""
    data = kept(parts, parts.paths.locks_file)
    try:
        return LockTable() if data is None else snapshot.decode(data)
    except LockError as error:
        raise ConfigurationError(
            f"{parts.paths.locks_file}: {error}; when no job runs any more, remove the file and start again"
        ) from None


def kept_reservations(parts: WconfdParts) -> Reservations:
    """What jobs had reserved. @raise ConfigurationError: tempres.data cannot be read."""
    reservations = Reservations()
    path = parts.paths.temporary_reservations_file
    data = kept(parts, path)
    try:
        reservations.restore(data or b"[]")
    except ConfigurationError as error:
        raise ConfigurationError(
            f"{path}: {error}; when no job runs any more, remove the file and start again"
        ) from None
    return reservations


def kept(parts: WconfdParts, path: Any) -> bytes | None:
    """A file of this daemon; None when there is none. @raise ConfigurationError: it cannot be read."""
    try:
        return parts.files.read(path, MAX_STATE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from None


def real_parts(reactor: Any) -> WconfdParts:
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
    role = MasterRole(parts.files, parts.paths, parts.own_name, parts.clock, parts.make_rpc, lost)
    return role, attrs.evolve(parts, make_rpc=lambda: LoyalRpc(parts.make_rpc(), role.refused))


async def listen(wconfd: Wconfd, reactor: Any, paths: Paths) -> Callable[[], Awaitable[None]]:
    """Answer on the unix socket; gives what ends that and the daemon. @raise GenericError: somebody listens there."""
    port = listen_unix(reactor, paths.wconfd_socket, wconfd.factory, SOCKET_MODE)

    async def stop() -> None:
        await maybeDeferred(port.stopListening)
        await wconfd.stop()

    return stop
