"""A job's end of the protocol: IConfig and ILocks over wconfd's unix socket."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import CancelledError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from zope.interface import implementer

from ganeti_tx.errors import ConfigurationError, LockError
from ganeti_tx.locking.interfaces import DEFAULT_PRIORITY, ILocks, LockRequest, LockStatus, Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.luxi.on_twisted import client
from ganeti_tx.luxi.transport_errors import NoMasterError, ProtocolError
from ganeti_tx.wconf import methods
from ganeti_tx.wconf.methods import CONFIG_METHODS, TABLE, Effect

WCONFD = Daemon("the configuration daemon (ganeti-wconfd, part of ganeti-master)", "systemctl start ganeti-master")
#: Seconds for which a restart of wconfd is waited out, and between two tries.
OUTAGE_LIMIT = 60.0
RETRY_INTERVAL = 0.2
#: A wait for locks has no time limit of the connection's.
FOREVER = 1e9


@define
class WconfClient:
    """Opens connections to wconfd; one for calls that answer at once, one for an update of locks that may wait."""

    reactor: Any
    socket_path: Path
    _calls: AsyncClient = field(init=False)
    _waits: AsyncClient = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._calls = client(self.reactor, str(self.socket_path), daemon=WCONFD)
        self._waits = client(self.reactor, str(self.socket_path), daemon=WCONFD, answer_timeout=FOREVER)

    def config(self, owner: Owner) -> "RemoteConfig":
        """The configuration as this owner reads and changes it."""
        return RemoteConfig(owner, Asker(self._calls, self.reactor))

    def locks(self, owner: Owner) -> "RemoteLocks":
        """The locks of this owner."""
        return RemoteLocks(owner, Asker(self._calls, self.reactor), Asker(self._waits, self.reactor))


@define
class Asker:
    """Asks again while wconfd is away: what only reads, always; what changes, only when it was not sent."""

    client: AsyncClient
    clock: IReactorTime

    async def ask(self, owner: Owner, name: str, arguments: Sequence[Any]) -> Any:
        """The method's typed result.

        @raise GanetiError: wconfd's own. @raise ConfigurationError: it was away for too long, or went away in the midst
            of a change, whose outcome then is unknown.
        """
        method = TABLE[name]
        wire = [[owner.job_id, owner.livelock], msgspec.to_builtins(list(arguments))]
        deadline = self.clock.seconds() + OUTAGE_LIMIT
        while True:
            try:
                return msgspec.convert(await self.client.call(name, wire), method.result)
            except NoMasterError as error:
                if self.clock.seconds() >= deadline:
                    raise ConfigurationError(str(error))
            except ProtocolError as error:
                if method.effect is Effect.CHANGES:
                    raise ConfigurationError(f"wconfd went away during {name}, whether it was done is unknown: {error}")
                if self.clock.seconds() >= deadline:
                    raise ConfigurationError(str(error))
            await deferLater(self.clock, RETRY_INTERVAL)


class RemoteConfig:
    """Implements IConfig: each method of the table by its name."""

    def __init__(self, owner: Owner, asker: Asker) -> None:
        self._owner = owner
        self._asker = asker

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name not in CONFIG_METHODS:
            raise AttributeError(name)
        return partial(self._call, name)

    async def _call(self, name: str, *arguments: Any) -> Any:
        missing = len(CONFIG_METHODS[name].arguments) - len(arguments)
        return await self._asker.ask(self._owner, name, [*arguments, *([None] * missing)])


@implementer(ILocks)
@define
class RemoteLocks:
    """ILocks over the socket. Cancelling an update closes its connection, which makes wconfd leave the queue."""

    _owner: Owner
    _calls: Asker
    _waits: Asker

    async def update(
        self, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY, timeout: float | None = None
    ) -> None:
        """As ILocks says."""
        wire = [request.to_wire() for request in requests]
        try:
            await self._waits.ask(self._owner, methods.UPDATE_LOCKS, [wire, priority, timeout])
        except CancelledError:
            self._waits.client.close()
            raise
        except ConfigurationError as error:
            raise LockError(str(error))

    async def opportunistic_union(self, requests: Sequence[LockRequest], priority: int = DEFAULT_PRIORITY) -> set[Lock]:
        """As ILocks says."""
        wire = [request.to_wire() for request in requests]
        taken = await self._calls.ask(self._owner, methods.OPPORTUNISTIC_LOCK_UNION, [wire, priority])
        return {Lock.parse(name) for name in taken}

    async def held(self) -> dict[Lock, Mode]:
        """As ILocks says."""
        pairs = await self._calls.ask(self._owner, methods.LIST_LOCKS, [])
        return {Lock.parse(name): Mode(mode) for name, mode in pairs}

    async def intersect(self, locks: Iterable[Lock]) -> None:
        """As ILocks says."""
        await self._calls.ask(self._owner, methods.INTERSECT_LOCKS, [[str(lock) for lock in locks]])

    async def release_all(self) -> None:
        """As ILocks says."""
        await self._calls.ask(self._owner, methods.FREE_LOCKS, [])

    async def set_priority(self, priority: int) -> None:
        """As ILocks says."""
        await self._calls.ask(self._owner, methods.SET_LOCK_PRIORITY, [priority])

    async def remove(self, lock: Lock) -> None:
        """As ILocks says."""
        await self._calls.ask(self._owner, methods.REMOVE_LOCK, [str(lock)])


async def overview(asker: Asker, owner: Owner) -> list[LockStatus]:
    """Every lock that is held or waited for."""
    rows = await asker.ask(owner, methods.LOCK_OVERVIEW, [])
    return [decode_status(row) for row in rows]


def decode_status(row: list[Any]) -> LockStatus:
    """The other side of the server's encode_status."""
    name, mode, owners, pending = row
    return LockStatus(
        Lock.parse(name),
        None if mode is None else Mode(mode),
        tuple(Owner(*owner) for owner in owners),
        tuple((Mode(word), tuple(Owner(*owner) for owner in waiting)) for word, waiting in pending),
    )
