"""Volumes in memory keep the contracts of the abilities, upon nothing and upon files."""

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.test.contracts.storage_abilities import (
    ExistingContract,
    OwnerMarkContract,
    SnapshotContract,
    UserspaceUriContract,
)
from ganeti_tx.test.fakes.devices import DeviceNodes
from ganeti_tx.test.fakes.mirror_node import volume_spec
from ganeti_tx.test.fakes.storage import FakeStorage, only
from ganeti_tx.test.fakes.volumes import FakeVolumes


class FakeVolumesTests(SnapshotContract, OwnerMarkContract, ExistingContract, UserspaceUriContract):
    """One level."""

    def trees(self) -> list[DeviceTree]:
        """See `StorageContract`."""
        self.volumes = FakeVolumes()
        return [only(self.volumes)]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return DiskSpec(uuid=f"d{number}", dev_type="plain", size=size, logical_id=["xenvg", f"disk{number}"])

    def content(self, disk: DiskSpec) -> str:
        """See `SnapshotContract`."""
        return self.volumes.bottom(self.volumes.get(disk)).content

    def fill(self, disk: DiskSpec, content: str) -> None:
        """See `SnapshotContract`."""
        self.volumes.bottom(self.volumes.get(disk)).content = content

    def mark(self, disk: DiskSpec) -> str:
        """See `OwnerMarkContract`."""
        return self.volumes.get(disk).owner

    def place(self) -> str:
        """See `ExistingContract`."""
        return "xenvg"

    def test_not_marked(self) -> None:
        """A disk that cannot be marked as its owner's is not made."""
        self.volumes.fault = lambda operation, disk: BlockDeviceError("no marks") if operation == "set_owner" else None
        self.assertEqual(self.refused(self.tree.create(self.disk(), "web1")), "no marks")
        self.assertIsNone(self.get(self.tree.find(self.disk())))


class VolumesOnFilesTests(FakeVolumesTests):
    """Two levels."""

    def trees(self) -> list[DeviceTree]:
        """See `StorageContract`."""
        devices = DeviceNodes()
        self.volumes = FakeVolumes(devices=devices)
        return [only(FakeStorage("file", devices=devices), self.volumes)]

    def disk(self, number: int = 0, size: int = 8, node: int = 0) -> DiskSpec:
        """See `StorageContract`."""
        return volume_spec(f"disk{number}", size)
