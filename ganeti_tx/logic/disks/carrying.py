"""Carrying the data of an instance's disks, all at once, over connections from node to node, or within one node."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.logic.disks.ends import End
from ganeti_tx.logic.disks.following import TO_CONNECT, Carried, Following, name_of
from ganeti_tx.model.compression import NONE


@define
class Carrying(Following):
    """From one end, disk by disk, to another: first `prepare`, then `carry`.

    @ivar copying: what is said when a disk begins, where both ends are on one node and nobody cares which.
    """

    source: End
    target: End
    compress: str = NONE
    copying: Mapping[int, str] = field(factory=dict)

    @property
    def ends(self) -> Sequence[End]:
        """See `Following`."""
        return (self.target, self.source)

    async def carry(self) -> None:
        """Copy all; the disks stay ready. @raise OpExecError: one could not be; what has come is not used."""
        for each in self._disks:
            self._begin(each)
            await self._start(each, self.target, self.source, None)
        for each in self._disks:
            port = await self._port(each, self.target)
            self._tell(each, "is now listening, starting export")
            await self._start(each, self.source, self.target, port)
        await self.until_done()
        await self.forget()

    def _begin(self, each: Carried) -> None:
        usual = f"Exporting disk/{each.index} from {self.source.node.name} to {self.target.node.name}"
        self.parts.info(self.copying.get(each.index, usual))

    async def _start(self, each: Carried, end: End, other: End, port: int | None) -> None:
        """Make the disk of an end ready, and have it listen, or connect to the other's port."""
        told: dict[str, Any] = {
            "transfer": name_of(each, end),
            "magic": each.magic,
            "peer": other.node.name,
            "compress": self.compress,
            "connect_limit": TO_CONNECT,
            "address": self.target.node.secondary_ip,
            **({} if port is None else {"port": port}),
        }
        for call in end.calls(each.index, told):
            await self._call(each, end.node, call)

    @property
    def _is_told(self) -> bool:
        return not self.copying

    @property
    def sums(self) -> Mapping[int, str]:
        """The checksum of each disk that has come, where the end that received has told it."""
        return {each.index: each.seen[self.target.does].sha256 for each in self._disks}
