"""The configuration of a domain: whole, and what each parameter does to it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.xen_hvm import XenHvmParams
from ganeti_tx.model.hypervisors.xen_pvm import XenPvmParams
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.xen.config_file import HEAD, config_text
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.values import quoted
from ganeti_tx.test.node.hypervisor.kvm.parts import attached
from ganeti_tx.test.node.hypervisor.xen.parts import KERNEL, KINDS, NAME, PASSWORD, xen_spec

PVM, HVM = KINDS
UUID = xen_spec(PVM).uuid
NIC = NicSpec(uuid="n0", mac="aa:00:00:00:00:01", mode="bridged", link="br0")

WHOLE_PVM = f"""{HEAD}
name = '{NAME}'
uuid = '{UUID}'
memory = 128
maxmem = 128
vcpus = 2
cpu_weight = 256
type = 'pv'
kernel = '{KERNEL}'
root = '/dev/xvda1'
extra = 'ro'
disk = ['format=raw,vdev=sda,access=rw,target=/srv/disk0', 'format=raw,vdev=sdb,access=ro,target=/srv/disk1']
vif = ['mac=aa:00:00:00:00:01,bridge=br0']
on_poweroff = 'destroy'
on_reboot = 'restart'
on_crash = 'destroy'
"""
WHOLE_HVM = f"""{HEAD}
name = '{NAME}'
uuid = '{UUID}'
memory = 128
maxmem = 128
vcpus = 2
cpu_weight = 256
type = 'hvm'
boot = 'cd'
acpi = 1
apic = 1
pae = 1
viridian = 0
localtime = 0
serial = 'pty'
stdvga = 0
sdl = 0
vnc = 1
vnclisten = '0.0.0.0'
vncdisplay = 5100
vncunused = 0
vncpasswd = 'secret'
disk = ['format=raw,vdev=hda,access=rw,target=/srv/disk0', 'format=raw,vdev=hdb,access=ro,target=/srv/disk1']
vif = ['mac=aa:00:00:00:00:01,bridge=br0,type=ioemu,model=rtl8139']
on_poweroff = 'preserve'
on_reboot = 'restart'
on_crash = 'preserve'
"""
BOTH: Mapping[str, tuple[Any, str]] = {
    "blockdev_prefix": ("xvd", "vdev=xvda,"),
    "cpu_cap": (150, "cap = 150"),
    "cpu_mask": ("0-1:all", "cpus = ['0-1', 'all']"),
    "cpu_weight": (512, "cpu_weight = 512"),
    "cpuid": ("host,tm=0", "cpuid = 'host,tm=0'"),
    "reboot_behavior": ("exit", "on_reboot = 'destroy'"),
    "soundhw": ("ac97,sb16", "soundhw = 'ac97,sb16'"),
    "vif_script": ("vif-mine", ",bridge=br0,script=vif-mine"),
}
#: A value of each parameter other than its default, and the line or part of one that it makes.
LINES: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "xen-pvm": {
        **BOTH,
        "bootloader_args": ("--offset=1", "bootloader_args = '--offset=1'"),
        "bootloader_path": ("/b/pygrub", "bootloader = '/b/pygrub'"),
        "initrd_path": ("/b/initrd", "ramdisk = '/b/initrd'"),
        "kernel_args": ("ro single", "extra = 'ro single'"),
        "kernel_path": ("/b/linux", "kernel = '/b/linux'"),
        "root_path": ("/dev/sda2", "root = '/dev/sda2'"),
        "use_bootloader": (True, "bootloader = '/usr/bin/pygrub'"),
    },
    "xen-hvm": {
        **BOTH,
        "acpi": (False, "acpi = 0"),
        "boot_order": ("nc", "boot = 'nc'"),
        "cdrom_image_path": ("/iso/a,b", "'format=raw,vdev=hdc,access=ro,devtype=cdrom,target=/iso/a,b'"),
        "device_model": ("/opt/qemu", "device_model_version = 'qemu-xen'\ndevice_model_override = '/opt/qemu'"),
        "kernel_path": ("/opt/hvmloader", "firmware_override = '/opt/hvmloader'"),
        "nic_type": ("e1000", ",type=ioemu,model=e1000'"),
        "pae": (False, "pae = 0"),
        "pci_pass": ("03:00.0;0000:04:00.1", "pci = ['03:00.0', '0000:04:00.1']"),
        "use_localtime": (True, "localtime = 1"),
        "viridian": (True, "viridian = 1"),
        "vnc_bind_address": ("127.0.0.1", "vnclisten = '127.0.0.1'"),
    },
}
#: Those that make no line, and why.
NO_LINE = {
    "disk_type": "xl emulates a disk beside the paravirtual one unless its name begins with xvd",
    "migration_mode": "of migrations; xl knows one way only",
    "migration_port": "of migrations",
    "vif_type": "counts only without a nic_type, which always has a value",
    "vnc_password_file": "what is in the file makes a line",
    "xen_cmd": "the program itself",
}


def guest(kind: XenKind, stays: bool = False, password: str = "", **changes: Any) -> Guest:
    """With two disks and an interface; whose own settings are needed for others to show has them."""
    if "bootloader_path" in changes or "bootloader_args" in changes:
        changes["use_bootloader"] = True
    if changes.get("use_bootloader"):
        changes.setdefault("bootloader_path", "/usr/bin/pygrub")
    spec = msgspec.structs.replace(xen_spec(kind, NAME, 128, 2, **changes), nics=[NIC])
    return Guest(spec, [attached(0), attached(1, "ro")], stays, password)


class WholeTests(SynchronousTestCase):
    """All of it."""

    maxDiff = None

    def test_whole(self) -> None:
        """As it is without any wish."""
        self.assertEqual(config_text(PVM, guest(PVM)), WHOLE_PVM)
        self.assertEqual(config_text(HVM, guest(HVM, stays=True, password="secret")), WHOLE_HVM)

    def test_parameters(self) -> None:
        """Each parameter makes its line, or is known to make none."""
        for kind, params in ((PVM, XenPvmParams()), (HVM, XenHvmParams())):
            known = set(msgspec.structs.asdict(params))
            self.assertEqual(known, {*LINES[kind.name], *(NO_LINE.keys() & known)}, kind.name)
            plain = config_text(kind, guest(kind))
            for name, (value, wanted) in LINES[kind.name].items():
                self.assertNotIn(wanted, plain, name)
                self.assertIn(wanted, config_text(kind, guest(kind, **{name: value})), name)

    def test_without_display(self) -> None:
        """Nobody listens where no address is said; without a port there can be no display."""
        text = config_text(HVM, guest(HVM, vnc_bind_address=""))
        self.assertIn("vnc = 0\n", text)
        self.assertNotIn("vncdisplay", text)
        without = msgspec.structs.replace(xen_spec(HVM), network_port=None)
        self.assertRaises(HypervisorError, config_text, HVM, Guest(without, []))

    def test_display_password(self) -> None:
        """A password is in no representation of what a domain is made from."""
        self.assertNotIn("hush", repr(guest(HVM, password="hush")))

    def test_masks(self) -> None:
        """One mask for all processors is a text, one for each a list; as many as there are processors."""
        self.assertIn("\ncpus = '0-2,5'\n", config_text(PVM, guest(PVM, cpu_mask="0-2,5")))
        self.assertRaises(HypervisorError, config_text, PVM, guest(PVM, cpu_mask="0:1:2"))

    def test_exit_on_reboot(self) -> None:
        """A reboot that is an end is kept to be seen where the end is."""
        self.assertIn("on_reboot = 'preserve'", config_text(PVM, guest(PVM, True, reboot_behavior="exit")))

    def test_cdrom_place(self) -> None:
        """A third disk leaves the CD-ROM its place."""
        disks = [attached(number) for number in range(4)]
        text = config_text(HVM, Guest(xen_spec(HVM, cdrom_image_path="/iso"), disks))
        places = [part.partition(",")[0] for part in text.split("vdev=")[1:]]
        self.assertEqual(places, ["hda", "hdb", "hdd", "hde", "hdc"])
        plain = config_text(HVM, Guest(xen_spec(HVM), disks))
        self.assertIn("vdev=hdc,access=rw,target=/srv/disk2", plain)

    def test_uri(self) -> None:
        """A disk that only QEMU reaches is refused."""
        disk: AttachedDisk = attached(uri="rbd:pool/x")
        self.assertRaises(HypervisorError, config_text, PVM, Guest(xen_spec(PVM), [disk]))


class QuotingTests(SynchronousTestCase):
    """Texts."""

    def test_quoted(self) -> None:
        """Nothing gets out of its quotes."""
        for text, wanted in (("a b", "'a b'"), ("it's", '"it\'s"'), ('say "x"', "'say \"x\"'"), ("a\\b", "'a\\\\b'")):
            self.assertEqual(quoted("extra", text), wanted)

    def test_refused(self) -> None:
        """What cannot be written down is refused with its name."""
        for text in ("a\nb", "both ' and \"", "\0", "\x1b["):
            self.assertIn("extra: ", str(self.assertRaises(HypervisorError, quoted, "extra", text)))


class InterfaceTests(SynchronousTestCase):
    """Interfaces by their modes."""

    def entry(self, **changes: Any) -> str:
        """That of one interface."""
        nic = msgspec.structs.replace(NIC, **changes)
        spec = msgspec.structs.replace(xen_spec(PVM), nics=[nic])
        (line,) = [line for line in config_text(PVM, Guest(spec, [])).splitlines() if line.startswith("vif = ")]
        return line

    def test_modes(self) -> None:
        """Xen's own script for each; a switch's takes the VLANs with its name."""
        self.assertIn(
            "bridge=ovs0.2:10,script=vif-openvswitch", self.entry(mode="openvswitch", link="ovs0", vlan=".2:10")
        )
        self.assertIn("ip=192.0.2.7,script=vif-route", self.entry(mode="routed", link="", ip="192.0.2.7"))

    def test_paravirtual(self) -> None:
        """No card is emulated for a guest that needs none."""
        self.assertIn(",bridge=br0,type=vif']", config_text(HVM, guest(HVM, nic_type="paravirtual")))


class FaultTests(SynchronousTestCase):
    """What no domain can be."""

    def faults(self, kind: XenKind, *have: str, **changes: Any) -> list[str]:
        """Of a node that has these files, and those of every test."""
        known = {str(KERNEL), str(PASSWORD), *have}
        return list(kind.faults(xen_spec(kind, **changes).hvparams, lambda path: str(path) in known))

    def test_none(self) -> None:
        """None by default."""
        for kind in KINDS:
            self.assertEqual(self.faults(kind), [])

    def test_both(self) -> None:
        """One line for each value, which names it."""
        for name, value in (
            ("cpu_weight", 0), ("cpu_cap", -1), ("migration_port", 70000), ("blockdev_prefix", "/dev/"), ("soundhw", "a b"),
            ("vif_script", "a,b"), ("vif_script", "/missing"), ("cpu_mask", "x"), ("xen_cmd", "virsh"),
            ("reboot_behavior", "never"),
        ):  # fmt: skip
            for kind in KINDS:
                (fault,) = self.faults(kind, **{name: value})
                self.assertTrue(fault.startswith(f"{name}: "), fault)
                self.assertIn(str(value), fault)

    def test_script(self) -> None:
        """A script of Xen's own directory is looked for there, if there is one."""
        self.assertEqual(self.faults(PVM, vif_script="vif-mine"), [])
        have = ("/etc/xen/scripts", "/etc/xen/scripts/vif-mine")
        self.assertEqual(self.faults(PVM, *have, vif_script="vif-mine"), [])
        self.assertEqual(self.faults(PVM, *have), [])
        wrong = "vif_script: /etc/xen/scripts/vif-yours is not on this node"
        self.assertEqual(self.faults(PVM, *have, vif_script="vif-yours"), [wrong])

    def test_unwritable(self) -> None:
        """A text that a domain's configuration cannot have is seen before there is a domain."""
        for text in ("'\"", "two\nlines"):
            (fault,) = self.faults(PVM, kernel_args=text)
            self.assertIn("kernel_args: ", fault)
            self.assertIn("cannot be written into a domain's configuration", fault)

    def test_pvm(self) -> None:
        """A kernel of the node, or a boot loader."""
        (fault,) = self.faults(PVM, kernel_path="/boot/none")
        self.assertIn("/boot/none is not on this node; set another one, or use_bootloader", fault)
        self.assertEqual(len(self.faults(PVM, kernel_path="")), 1)
        self.assertEqual(len(self.faults(PVM, initrd_path="relative")), 1)
        self.assertEqual(len(self.faults(PVM, use_bootloader=True)), 1)
        self.assertEqual(len(self.faults(PVM, use_bootloader=True, bootloader_path="/none")), 1)
        self.assertEqual(self.faults(PVM, "/b", use_bootloader=True, bootloader_path="/b", kernel_path="/none"), [])

    def test_hvm(self) -> None:
        """What an emulated machine has; Xen's own programs are found by Xen."""
        for name, value in (
            ("device_model", "/none"), ("kernel_path", "/none"), ("cdrom_image_path", "/none"), ("vnc_bind_address", "eth0"),
            ("vnc_password_file", "/none"), ("boot_order", "disk"), ("pci_pass", "03:00"), ("nic_type", "virtio"),
        ):  # fmt: skip
            (fault,) = self.faults(HVM, **{name: value})
            self.assertTrue(fault.startswith(f"{name}: "), fault)
        (fault,) = self.faults(HVM, disk_type="ioemu", blockdev_prefix="xvd")
        self.assertIn("disk_type ioemu needs hd or sd", fault)
        self.assertEqual(self.faults(HVM, vnc_bind_address="", vnc_password_file="/none"), [])
