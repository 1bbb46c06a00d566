"""What all simulated nodes reach."""

from attrs import define, field

from ganeti_tx.test.fakes.ceph import MemoryCeph
from ganeti_tx.test.fakes.memory_provider import MemoryProvider
from ganeti_tx.test.fakes.storage import FakeDisk


@define
class SharedStorage:
    """By logical id: files, those on a volume of Gluster, devices that the administrator brought, volumes of a provider; Ceph."""

    files: dict[str, FakeDisk] = field(factory=dict)
    gluster: dict[str, FakeDisk] = field(factory=dict)
    devices: dict[str, FakeDisk] = field(factory=dict)
    external: MemoryProvider = field(factory=MemoryProvider)
    ceph: MemoryCeph = field(factory=MemoryCeph)

    def add_device(self, path: str, size: int) -> None:
        """The administrator brings a device."""
        self.devices[f"manual/{path}"] = FakeDisk(size)
