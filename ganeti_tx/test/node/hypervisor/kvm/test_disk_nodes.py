"""As what QEMU says that it reads an instance's disks."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm.disk_nodes import formats_read
from ganeti_tx.node.hypervisor.kvm.state import DiskState


def disk(uuid: str) -> DiskState:
    """One as it was attached at the start."""
    return DiskState(uuid=uuid, device=f"drive-{uuid}", source=f"/srv/{uuid}")


class FormatsReadTests(SynchronousTestCase):
    """Of several disks, and what is none of them."""

    def test_told(self) -> None:
        """That of a disk by its drive, or, when it came later, by its device; of what is only on its way, of a CD-ROM without
        a medium, and of what QEMU does not have, nothing."""
        devices: list[dict[str, Any]] = [
            {"device": "drive-d0", "inserted": {"drv": "raw", "node-name": "#block101"}},
            {"device": "", "qdev": "/machine/peripheral/disk-d1/virtio-backend", "inserted": {"drv": "qcow2"}},
            {"device": "drive-d2", "inserted": {"drv": "mirror_top"}},
            {"device": "cdrom0"},
        ]
        disks = [disk("d0"), DiskState(uuid="d1", device="disk-d1", source="/srv/d1"), disk("d2"), disk("d3")]
        self.assertEqual(formats_read(disks, devices), {"d0": "raw", "d1": "qcow2"})
