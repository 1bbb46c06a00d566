"""The disks in memory keep what the real ones keep."""

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.test.contracts.storage import AdoptedContract, OneDeviceContract, PoolsContract
from ganeti_tx.test.fakes.block_devices import FakeBlockDevices
from ganeti_tx.test.fakes.storage import FakeDisk, FakePools, FakeStorage


class FakeFileTests(OneDeviceContract):
    """As the template `file`."""

    template = "file"

    def storage(self) -> FakeStorage:
        """See `OneDeviceContract`."""
        return FakeStorage("file")

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["loop", f"/srv/ganeti/file-storage/web1/disk{number}"]


class FakePlainTests(OneDeviceContract):
    """As the template `plain`, which is no path."""

    template = "plain"

    def storage(self) -> FakeStorage:
        """See `OneDeviceContract`."""
        return FakeStorage("plain", total=100)

    def logical_id(self, number: int) -> list[object]:
        """See `OneDeviceContract`."""
        return ["xenvg", f"disk{number}"]

    def test_full(self) -> None:
        """More than the free room is refused."""
        self.get(self.store.create(self.disk(0, size=60)))
        self.refused(self.store.create(self.disk(1, size=60)))
        self.refused(self.store.grow(self.disk(0), 60, dry_run=True))

    def test_fault(self) -> None:
        """A wanted fault comes before anything is done."""

        def fault(operation: str, disk: DiskSpec) -> BlockDeviceError | None:
            return BlockDeviceError("broken") if operation == "create" else None

        store = FakeStorage("plain", fault=fault)
        self.assertEqual(self.refused(store.create(self.disk())), "broken")
        self.assertEqual(store.disks, {})


class FakeBlockDeviceTests(AdoptedContract):
    """Devices that are there already."""

    template = "blockdev"

    def storage(self) -> FakeBlockDevices:
        """See `AdoptedContract`."""
        return FakeBlockDevices(disks={"manual//dev/disk/by-id/lun0": FakeDisk(8)})

    def at(self, path: str) -> DiskSpec:
        """A disk of a device."""
        return DiskSpec(uuid="d", dev_type=self.template, size=8, logical_id=["manual", path])

    def adopted(self) -> DiskSpec:
        """See `AdoptedContract`."""
        return self.at("/dev/disk/by-id/lun0")

    def absent(self) -> DiskSpec:
        """See `AdoptedContract`."""
        return self.at("/dev/disk/by-id/lun1")


class FakePoolsTests(PoolsContract):
    """A pool in memory."""

    def pools(self) -> FakePools:
        """See `PoolsContract`."""
        return FakePools(FakeStorage())

    def pool(self) -> str:
        """See `PoolsContract`."""
        return "xenvg"
