"""Where devices are: given once, kept, and the same for a machine that takes over from another."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.command.build import planned_machine, qemu_argv
from ganeti_tx.node.hypervisor.kvm.command.places import Places
from ganeti_tx.test.node.hypervisor.kvm.parts import attached, qemu_plan

CDROM: dict[str, Any] = {"cdrom_image_path": "/iso", "cdrom_disk_type": "paravirtual"}


class PlacesTests(SynchronousTestCase):
    """Of disks, interfaces, and what else comes before and between them."""

    def test_order(self) -> None:
        """From behind the reserved slots: controller, disks, CD-ROM, interfaces; disks on SCSI have addresses there."""
        places = planned_machine(qemu_plan(disks=[attached(0), attached(1)], **CDROM)).places
        self.assertEqual([place["addr"] for place in places.values()], ["0xc", "0xd", "0xe", "0xf"])
        self.assertEqual([*places], ["disk-d0", "disk-d1", "cdrom0", "nic-n0"])
        scsi = planned_machine(qemu_plan(disks=[attached(0), attached(1)], disk_type="scsi-hd")).places
        self.assertEqual(scsi["scsi"], {"bus": "pci.0", "addr": "0xc"})
        self.assertEqual(scsi["disk-d1"], {"bus": "scsi.0", "channel": 0, "scsi_id": 1, "lun": 0})
        self.assertEqual(scsi["nic-n0"], {"bus": "pci.0", "addr": "0xd"})

    def test_kept(self) -> None:
        """A machine that takes over has each device where it was, whatever went meanwhile, and new ones elsewhere."""
        given = planned_machine(qemu_plan(disks=[attached(0), attached(1)])).places
        argv = " ".join(qemu_argv(qemu_plan(disks=[attached(1), attached(2)], places=given)))
        self.assertIn("id=disk-d1,drive=drive-d1,bus=pci.0,addr=0xd", argv)
        self.assertIn("mac=aa:00:00:00:00:01,bus=pci.0,addr=0xe", argv)
        self.assertIn("id=disk-d2,drive=drive-d2,bus=pci.0,addr=0xf", argv)
        scsi = planned_machine(qemu_plan(disks=[attached()], disk_type="scsi")).places
        self.assertIn("lsi,id=scsi", " ".join(qemu_argv(qemu_plan(disks=[], disk_type="scsi", places=scsi))))

    def test_full(self) -> None:
        """A full bus is refused, with what would help."""
        places = Places("pci.0", 30, {}, frozenset({30}))
        self.assertEqual(places.slot("disk-d0")["addr"], "0x1f")
        self.assertIn("kvm_pci_reservations", str(self.assertRaises(HypervisorError, places.slot, "disk-d1")))
        self.assertEqual(places.slot("disk-d0")["addr"], "0x1f")
