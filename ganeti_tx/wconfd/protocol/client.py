"""The configuration and the locks for a job process, over WConfD's unix socket."""

from pathlib import Path

from ganeti_tx.locking.interfaces import LockStatus, Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.luxi.on_twisted import connector
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.runtime.reactors import ISocketReactor
from ganeti_tx.wconfd.protocol.link import TIMEOUT, Link
from ganeti_tx.wconfd.protocol.own_calls import LIST_ALL_LOCKS, LOOK_FOR_DEAD, READ_METRICS
from ganeti_tx.wconfd.protocol.own_methods import WireLock
from ganeti_tx.wconfd.protocol.remote_config import RemoteConfig
from ganeti_tx.wconfd.protocol.remote_locks import RemoteLocks

WCONFD = Daemon("the configuration daemon (ganeti-wconfd, part of ganeti-master)", "ganeti-master")
#: The same to luxid, which only asks one that runs apart.
WCONFD_ALONE = Daemon("the configuration daemon (ganeti-wconfd)", "ganeti-wconfd")

#: Seconds for the answer of a short request.
ANSWER = 600.0
#: Seconds for the answer of one that waits, for locks or for other nodes. No job waits so long.
LONG_ANSWER = 14 * 86400.0

#: Whose requests are those of no job.
NOBODY = Owner(0, "")


class WconfClient:
    """Gives IConfig and ILocks for owners; they share one connection for short requests."""

    def __init__(
        self,
        reactor: ISocketReactor,
        socket_path: Path | str,
        link: Link | None = None,
        *,
        daemon: Daemon = WCONFD,
        timeout: float = TIMEOUT,
    ) -> None:
        """`link` replaces the socket, for those who have another way to WConfD; `timeout` in seconds is Link's."""
        short, long = (
            connector(reactor, str(socket_path), daemon=daemon, answer_timeout=limit) for limit in (ANSWER, LONG_ANSWER)
        )
        self._link = link or Link(connect=short, connect_to_wait=long, clock=reactor, timeout=timeout)

    def config(self, owner: Owner) -> RemoteConfig:
        """The configuration for an owner."""
        return RemoteConfig(self._link, owner)

    def locks(self, owner: Owner) -> RemoteLocks:
        """The locks of an owner."""
        return RemoteLocks(self._link, owner)

    async def lock_overview(self) -> list[LockStatus]:
        """Every lock that is held or waited for, in the order of locks."""
        return [status_of(each) for each in await self._link.ask(LIST_ALL_LOCKS, NOBODY)]

    async def look_for_dead(self) -> None:
        """Have the locks of the dead freed now; WConfD finds them by itself a little later."""
        await self._link.ask(LOOK_FOR_DEAD, NOBODY)

    async def readings(self) -> Readings:
        """What WConfD has counted."""
        return await self._link.ask(READ_METRICS, NOBODY)

    def close(self) -> None:
        """Hang up."""
        self._link.close()


def status_of(wire: WireLock) -> LockStatus:
    """A lock's state as it was sent."""
    name, mode, owners, pending = wire
    return LockStatus(
        Lock.parse(name),
        None if mode is None else Mode(mode),
        tuple(Owner(*owner) for owner in owners),
        tuple((Mode(wanted), tuple(Owner(*owner) for owner in waiting)) for wanted, waiting in pending),
    )
