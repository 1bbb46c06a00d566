"""A simulated node whose mirrors lie on volumes, and these on files: three levels, each by its own storage."""

from collections.abc import Sequence

from attrs import define, field

from ganeti_tx.model.instance_spec import DiskSpec, MirrorEnds
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.test.fakes.devices import DeviceNodes
from ganeti_tx.test.fakes.mirror import FakeMirrors
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.fakes.storage import FakeStorage, only
from ganeti_tx.test.fakes.volumes import FakeVolumes

META = 4


@define
class MirrorNode:
    """One of the nodes on a wire."""

    address: str
    wire: MirrorWire
    files: FakeStorage = field(factory=FakeStorage)
    volumes: FakeVolumes = field(init=False)
    mirrors: FakeMirrors = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.volumes = FakeVolumes(devices=self.devices)
        self.mirrors = FakeMirrors(self.devices, self.wire)

    @property
    def devices(self) -> DeviceNodes:
        """What is ready."""
        return self.files.devices

    def tree(self) -> DeviceTree:
        """The disks of the node."""
        return only(self.files, self.volumes, self.mirrors)

    def lose_power(self) -> None:
        """Nothing is ready any more."""
        self.mirrors.lose_power()
        self.devices.lose_power()
        for disk in (*self.files.disks.values(), *self.volumes.disks.values()):
            disk.assembled = False


def mirror_spec(addresses: Sequence[str], node: int, number: int = 0, size: int = 8, index: int = 0) -> DiskSpec:
    """A mirror between two nodes as one of them must know it."""
    ends = MirrorEnds(
        local_address=addresses[node],
        local_minor=10 * node + number,
        peer_address=addresses[1 - node],
        peer_minor=10 * (1 - node) + number,
        port=11000 + number,
    )
    minors = (number, 10 + number)
    return DiskSpec(
        uuid=f"d{number}",
        dev_type="drbd",
        size=size,
        logical_id=["uuid0", "uuid1", 11000 + number, *minors, "secret"],
        index=index,
        children=[volume_spec(f"d{number}_data", size), volume_spec(f"d{number}_meta", META)],
        ends=ends,
    )


def volume_spec(name: str, size: int) -> DiskSpec:
    """A volume upon a file."""
    file = DiskSpec(uuid=f"{name}-file", dev_type="file", size=size, logical_id=["loop", f"/srv/{name}"])
    return DiskSpec(uuid=name, dev_type="plain", size=size, logical_id=["xenvg", name], children=[file])
