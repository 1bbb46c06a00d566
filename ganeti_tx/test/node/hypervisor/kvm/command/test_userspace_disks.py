"""What QEMU is told of disks that it opens itself."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.disks import INTERFACES, drive_option
from ganeti_tx.node.storage.rbd.image import Image
from ganeti_tx.test.node.hypervisor.kvm.parts import attached


class UserspaceDisksTests(SynchronousTestCase):
    """Images of Ceph."""

    def told(self, uri: str, interface: str = "none", **params: str) -> list[str]:
        """The parts of the option, at commas that are no part of a value."""
        text = drive_option(KvmParams(**params), attached(path="/dev/rbd0", uri=uri), interface)  # type: ignore[arg-type]
        return text.replace(",,", "\0").split(",")

    def test_image(self) -> None:
        """The image is opened, not its device; caches and discarding are as with any disk, and aio is none of its."""
        image = Image("rbd", "u.rbd.disk0")
        told = self.told(image.uri(None), disk_cache="writeback", disk_aio="io_uring", disk_discard="unmap")
        self.assertEqual(told[0], "file=rbd:rbd/u.rbd.disk0")
        self.assertLessEqual({"if=none", "format=raw", "cache=writeback", "discard=unmap"}, set(told))
        self.assertFalse([part for part in told if part.startswith("aio=") or "/dev/rbd0" in part])

    def test_interfaces(self) -> None:
        """So it is on buses that have no device of their own."""
        for interface in INTERFACES:
            told = self.told(Image("rbd", "i").uri(None), interface)
            self.assertLessEqual({"file=rbd:rbd/i", f"if={interface}"}, set(told))

    def test_signs(self) -> None:
        """What QEMU would take for another part is a part of the name."""
        told = self.told(Image("a:b=c", "i").uri("/srv/x,y/ceph.conf"))
        self.assertEqual(told[0], "file=rbd:a\\:b\\=c/i:conf=\\/srv\\/x\0y\\/ceph.conf")
