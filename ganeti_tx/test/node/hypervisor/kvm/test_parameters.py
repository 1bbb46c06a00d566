"""Which parameters are refused, and which program is run."""

from pathlib import Path
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, OTHER_PROGRAM, KvmParams
from ganeti_tx.node.hypervisor.kvm.command.build import qemu_argv
from ganeti_tx.node.hypervisor.kvm.parameters import faults, kvm_params, with_program
from ganeti_tx.test.node.hypervisor.kvm.parts import qemu_plan


def found(*missing: str, **values: Any) -> list[str]:
    """The faults on a node that has every file but these."""
    return faults(KvmParams(**{"kernel_path": "", **values}), lambda path: str(path) not in missing)


class ParameterTests(SynchronousTestCase):
    """Values alone and together."""

    def test_good(self) -> None:
        """What can be started has no faults."""
        self.assertEqual(found(), [])

    def test_each(self) -> None:
        """Each fault begins with the parameter's name."""
        for name, value in (
            *(("disk_type", "x"), ("boot_order", "disk,x"), ("virtio_net_queues", 9), ("cpu_mask", "x")),
            *(("initrd_path", "/i"), ("security_domain", "joe"), ("cdrom_image_path", "relative")),
            *(("kvm_path", "kvm"), ("migration_mode", "fast"), ("spice_ip_version", 5), ("kvm_pci_reservations", 32)),
            *(("serial_speed", 99), ("usb_devices", "tablet host:x"), ("spice_tls_ciphers", "NOSUCH")),
        ):
            (fault,) = found(**{name: value})
            self.assertTrue(fault.startswith(f"{name}: "), fault)

    def test_of_before(self) -> None:
        """What nobody may set any more, and a configuration may have, keeps no instance from its start."""
        self.assertEqual(
            found(vnc_bind_address="node1.example.com", migration_caps="teleport", migration_downtime=-1), []
        )

    def test_together(self) -> None:
        """Several queues, and the kernel's, are for paravirtual interfaces; native I/O takes what cache is said."""
        self.assertIn("vnet_hdr", found(virtio_net_queues=2, vnet_hdr=False)[0])
        for values in ({"virtio_net_queues": 2}, {"vhost_net": True}):
            (fault,) = found(nic_type="e1000", **values)
            self.assertIn("nic_type paravirtual, not e1000", fault)
        self.assertEqual(found(disk_aio="native", disk_cache="writeback"), [])
        self.assertIn("cache=none", " ".join(qemu_argv(qemu_plan(disk_aio="native", disk_cache="writeback"))))

    def test_displays(self) -> None:
        """A socket needs its directory; an address is of the version that is asked for."""
        self.assertEqual(found(vnc_bind_address="/run/vnc"), [])
        wrong = "vnc_bind_address: directory /run/vnc is not on this node"
        self.assertEqual(found("/run/vnc", vnc_bind_address="/run/vnc"), [wrong])
        self.assertEqual(found(spice_bind="::1", spice_ip_version=6), [])
        self.assertEqual(found(spice_bind="eth0", spice_ip_version=6), [])
        wrong = "spice_ip_version: 6 is not that of spice_bind 127.0.0.1"
        self.assertEqual(found(spice_bind="127.0.0.1", spice_ip_version=6), [wrong])

    def test_postcopy(self) -> None:
        """What QEMU refuses beside it is named."""
        self.assertEqual(found(migration_caps="postcopy-ram:xbzrle"), [])
        (fault,) = found(migration_caps="x-ignore-shared:postcopy-ram:background-snapshot")
        self.assertIn("postcopy-ram does not go with background-snapshot, x-ignore-shared", fault)

    def test_all(self) -> None:
        """All faults are told at once."""
        self.assertEqual(len(found(disk_type="x", cpu_mask="x", vnc_x509_verify=True)), 3)

    def test_types(self) -> None:
        """A value of the wrong type and a parameter that is none are refused by name."""
        raw = msgspec.to_builtins(KvmParams())
        self.assertIn("acpi", str(self.assertRaises(HypervisorError, kvm_params, {**raw, "acpi": "yes"})))
        self.assertIn("nosuch", str(self.assertRaises(HypervisorError, kvm_params, {**raw, "nosuch": 1})))

    def test_program(self) -> None:
        """Without the built-in program QEMU's own name is taken; without both both are named; a set one is kept."""
        self.assertEqual(found(DEFAULT_PROGRAM), [])
        there: Any = lambda path: path != Path(DEFAULT_PROGRAM)  # noqa: E731
        self.assertEqual(with_program(KvmParams(), there).kvm_path, OTHER_PROGRAM)
        (fault,) = found(DEFAULT_PROGRAM, OTHER_PROGRAM)
        self.assertTrue(DEFAULT_PROGRAM in fault and OTHER_PROGRAM in fault, fault)
        (fault,) = found("/opt/qemu", kvm_path="/opt/qemu")
        self.assertIn("/opt/qemu is not on this node", fault)
