"""The transfers of an instance's disks between two clusters: one end of each is here."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define

from ganeti_tx.logic.disks.ends import End
from ganeti_tx.logic.disks.following import FIRST_LOOK, Carried, Following, name_of
from ganeti_tx.model.remote_moves import Destination
from ganeti_tx.rpc.calls.transfer import ImpexpRelease, RemotePeer

#: Seconds within which the other cluster must be there (reference: remote-export.json, timing).
TO_CONNECT = 180.0
#: How errors call the other side, of which only addresses are known.
OTHER_CLUSTER = "the other cluster"


@define
class RemoteTransfers(Following):
    """What both sides have. @ivar peer: how they know one another."""

    end: End
    compress: str
    peer: RemotePeer

    @property
    def ends(self) -> Sequence[End]:
        """See `Following`."""
        return (self.end,)

    async def _start(self, each: Carried, address: str, limit: float, **more: Any) -> None:
        told: dict[str, Any] = {
            "transfer": name_of(each, self.end),
            "magic": each.magic,
            "peer": OTHER_CLUSTER,
            "compress": self.compress,
            "connect_limit": limit,
            "address": address,
            "remote": self.peer,
            **more,
        }
        for call in self.end.calls(each.index, told):
            await self._call(each, self.end.node, call)


@define
class Receiving(RemoteTransfers):
    """They come from another cluster: first `prepare`, then `listen`, and when all is filled and kept for good `release`.

    @ivar patience: seconds that the other side may take before it begins, besides those to connect.
    """

    patience: float

    async def listen(self) -> Sequence[Destination]:
        """Where each disk is expected. @raise OpExecError: one is not."""
        found = []
        address = self.end.node.primary_ip
        for each in self._disks:
            await self._start(each, address, TO_CONNECT + self.patience, holds=True)
        for each in self._disks:
            found.append(Destination(address, await self._port(each, self.end), each.magic))
            self._tell(each, "is now listening")
        return found

    async def until_filled(self) -> None:
        """The bytes of all disks have come. @raise OpExecError: those of one have not."""
        await self.until(lambda status: status.filled or status.ended)

    async def release(self) -> None:
        """Tell the other side that it may forget the instance. @raise OpExecError: that cannot be told."""
        for each in self._disks:
            await self._call(each, self.end.node, ImpexpRelease(transfer=name_of(each, self.end)))
        await self.parts.pause(FIRST_LOOK)
        await self.until_done()
        await self.forget()


@define
class Sending(RemoteTransfers):
    """They go to another cluster: first `prepare`, then `carry`, at last `forget`."""

    destinations: Sequence[Destination]

    async def magic(self, index: int) -> str:
        """As the other side expects it."""
        return self.destinations[index].magic

    async def carry(self) -> None:
        """@raise OpExecError: one has not been taken, so that the other side has none of them."""
        for each in self._disks:
            to = self.destinations[each.index]
            self.parts.info(f"Sending disk/{each.index} to {to.host}, port {to.port}")
            await self._start(each, to.host, TO_CONNECT, port=to.port)
        await self.until_done()

    @property
    def sums(self) -> Mapping[int, str]:
        """The other side tells none."""
        return {}
