"""How hypervisors are told what lies in the file of a disk, and which of them cannot read it."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.disk_formats import check_raw
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.command.block_nodes import block_node
from ganeti_tx.node.hypervisor.kvm.command.disks import drive_option
from ganeti_tx.node.hypervisor.xen.drives import disk_entries
from ganeti_tx.test.node.hypervisor.kvm.parts import attached

PARAMS = KvmParams()


def image() -> AttachedDisk:
    """A disk that is one."""
    raw = attached()
    return AttachedDisk(replace(raw.spec, params={"format": QCOW2}), raw.path)


class FormatTests(SynchronousTestCase):
    """Of a raw disk, and of an image."""

    def test_kvm(self) -> None:
        """QEMU is told the format, and that an image is made upon nothing; it never looks for it."""
        for disk, driver in ((attached(), "raw"), (image(), "qcow2")):
            self.assertIn(f",format={driver},", drive_option(PARAMS, disk, "none") + ",")
            node = block_node(PARAMS, disk, disk.path, is_device=False)
            self.assertEqual((node["driver"], node["file"]["driver"]), (driver, "file"))
            self.assertEqual("backing" in node and node["backing"] is None, driver == QCOW2)

    def test_others(self) -> None:
        """Who would take the image itself for the disk refuses it, as what only QEMU can reach."""
        check_raw(attached())
        for disk, words in ((image(), "is of format qcow2"), (attached(uri="iscsi://x/y/1"), "reached by QEMU only")):
            self.assertIn(words, str(self.assertRaises(HypervisorError, check_raw, disk)))
            self.assertIn(words, str(self.assertRaises(HypervisorError, list, disk_entries([disk], "sd"))))

    def test_of_providers(self) -> None:
        """A parameter of that name that a provider of external storage has says nothing of it."""
        spec = DiskSpec(uuid="d", dev_type="ext", size=1, logical_id=["shelf", "x"], params={"format": QCOW2})
        self.assertEqual(spec.format, "raw")
