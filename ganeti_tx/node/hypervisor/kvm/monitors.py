"""Shared QMP connections: QEMU serves one client of a socket at a time, our callers overlap."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.node.hypervisor.kvm.qmp import ConnectQmp, QmpClient


@define(eq=False)
class _Shared:
    """One connection and how many use it."""

    users: int = 0
    client: QmpClient | None = None
    turn: DeferredLock = field(factory=DeferredLock)


@define
class Monitors:
    """Connects when the first caller comes and hangs up when the last one leaves.

    No connection is kept for long, so that nothing has to be found again after a restart of the daemon.
    """

    connect: ConnectQmp
    _open: dict[Path, _Shared] = field(factory=dict, init=False)

    @asynccontextmanager
    async def open(self, socket: Path) -> AsyncIterator[QmpClient]:
        """A client that is ready for commands. @raise HypervisorError: as `connect` does."""
        shared = self._open.setdefault(socket, _Shared())
        shared.users += 1
        try:
            yield await self._client(shared, socket)
        finally:
            shared.users -= 1
            if shared.users == 0:
                if self._open.get(socket) is shared:
                    del self._open[socket]
                if shared.client is not None:
                    shared.client.close()

    async def _client(self, shared: _Shared, socket: Path) -> QmpClient:
        async with shared.turn:
            if shared.client is None or shared.client.is_lost:
                shared.client = await self.connect(socket)
            return shared.client
