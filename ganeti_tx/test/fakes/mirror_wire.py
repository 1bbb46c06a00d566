"""The sides of mirrors in memory, and the wire between the nodes."""

from collections.abc import Callable

from attrs import define, field

from ganeti_tx.model.instance_spec import MirrorEnds
from ganeti_tx.test.fakes.devices import FakeDisk, MirrorNotes

MAJOR = 147
#: Generations are told from here on, as small numbers mean something of their own.
FIRST = 16
#: Where a device stands on a wire: its node's address and its port.
End = tuple[str, int]


@define(eq=False)
class MirrorDevice:
    """One side that is up. Without `data` it has to do with the other side's."""

    ends: MirrorEnds
    secret: str
    paths: list[str]
    data: FakeDisk | None
    notes: MirrorNotes | None
    size: int
    primary: bool = False
    wants_peer: bool = True
    discards: bool = False
    both_primary: bool = False
    paused: bool = False
    seen_at: float = 0.0

    @property
    def end(self) -> End:
        """Its own."""
        return self.ends.local_address, self.ends.port

    @property
    def is_good(self) -> bool:
        """Whether its own data can be used."""
        return self.notes is not None and self.notes.good


@define
class MirrorWire:
    """The network between the mirrors of all nodes. `rate`: MiB a second; `cut`: pairs of addresses without connection."""

    now: Callable[[], float]
    rate: float = 4.0
    devices: dict[End, MirrorDevice] = field(factory=dict)
    cut: set[frozenset[str]] = field(factory=set)
    _generation: int = 0

    def split(self, one: str, other: str) -> None:
        """Two addresses do not reach each other any more."""
        for device in list(self.devices.values()):
            self.advance(device)
        self.cut.add(frozenset((one, other)))

    def mend(self, one: str, other: str) -> None:
        """They do again."""
        self.cut.discard(frozenset((one, other)))
        for device in list(self.devices.values()):
            device.seen_at = self.now()
            self.advance(device)

    def peer(self, device: MirrorDevice) -> MirrorDevice | None:
        """The other side, while the two are connected."""
        other = self.devices.get((device.ends.peer_address, device.ends.port))
        if other is None or not (device.wants_peer and other.wants_peer) or other.secret != device.secret:
            return None
        parted = frozenset((device.ends.local_address, device.ends.peer_address)) in self.cut
        return None if parted or other.ends.peer_address != device.ends.local_address else other

    def move(self, device: MirrorDevice, ends: MirrorEnds) -> None:
        """It stands elsewhere, and looks for its other side there."""
        self.devices.pop(device.end, None)
        device.ends = ends
        self.devices[device.end] = device

    def next_generation(self) -> int:
        """Data that go on alone get a new one."""
        self._generation += 1
        return self._generation

    def advance(self, device: MirrorDevice) -> None:
        """Do what would have happened since somebody asked last: find who is newer, and carry the data over."""
        other = self.peer(device)
        if other is not None:
            target = self.target(device, other)
            if target is not None:
                self._carry(device if target is other else other, target)
        device.seen_at = self.now()
        if other is not None:
            other.seen_at = device.seen_at

    def target(self, one: MirrorDevice, other: MirrorDevice) -> MirrorDevice | None:
        """The side that is filled from the other; both stand alone when each has something that the other has not."""
        if one.notes is None or other.notes is None:
            return None
        mine, its = one.notes.generations, other.notes.generations
        if mine == its and one.is_good == other.is_good:
            return None
        for side, peer in ((one, other), (other, one)):
            if side.discards and peer.is_good and not peer.discards:
                return side
        if its == mine[: len(its)] and one.is_good:
            return other
        if mine == its[: len(mine)] and other.is_good:
            return one
        if one.is_good and other.is_good:
            one.wants_peer = other.wants_peer = False
        return None

    def _carry(self, source: MirrorDevice, target: MirrorDevice) -> None:
        assert source.notes is not None and target.notes is not None and source.data and target.data
        target.notes.good = False
        since = max(source.seen_at, target.seen_at)
        if not (source.paused or target.paused):
            target.notes.synced += (self.now() - since) * self.rate
        if target.notes.synced >= target.size:
            target.data.content = source.data.content
            target.notes.generations, target.notes.good, target.notes.synced = source.notes.generations, True, 0.0
            target.discards = False
