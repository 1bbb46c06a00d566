"""No parameter is silently ignored: each one changes the command line, or is named here with where it has its effect."""

from collections.abc import Mapping
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration
from ganeti_tx.node.hypervisor.kvm.command.build import qemu_argv
from ganeti_tx.test.node.hypervisor.kvm.parts import attached, qemu_plan

KERNEL = {"kernel_path": "/k"}
CDROM = {"cdrom_image_path": "/iso"}
VNC: Mapping[str, Any] = {"vnc_bind_address": "0.0.0.0"}
TLS: Mapping[str, Any] = {**VNC, "vnc_tls": True}
X509 = {**TLS, "vnc_x509_path": "/x509"}
SPICE: Mapping[str, Any] = {"spice_bind": "0.0.0.0"}

#: A value that is not the built-in one, what else must be set for it, and a piece of the command line it brings about.
EFFECTS: Mapping[str, tuple[Any, Mapping[str, Any], str]] = {
    "acpi": (False, {}, "-no-acpi"),
    "boot_order": ("network,disk", {}, "bootindex=2"),
    "cdrom2_image_path": ("/iso2", {}, "file=/iso2"),
    "cdrom_disk_type": ("paravirtual", CDROM, "virtio-blk-pci,drive=cdrom0"),
    "cdrom_image_path": ("/iso", {}, "file=/iso"),
    "cpu_cores": (2, {}, "cores=2"),
    "cpu_sockets": (2, {}, "sockets=2"),
    "cpu_threads": (2, {}, "threads=2"),
    "cpu_type": ("max", {}, "-cpu max"),
    "disk_aio": ("native", {}, "aio=native"),
    "disk_cache": ("writeback", {}, "cache=writeback"),
    "disk_discard": ("unmap", {}, "discard=unmap"),
    "disk_type": ("ide", {}, "ide-hd"),
    "floppy_image_path": ("/floppy", {}, "file=/floppy"),
    "initrd_path": ("/initrd", KERNEL, "-initrd /initrd"),
    "kernel_args": ("quiet", KERNEL, "quiet"),
    "kernel_path": ("/k", {}, "-kernel /k"),
    "keymap": ("de", VNC, "-k de"),
    "kvm_extra": ("-snapshot", {}, "-snapshot"),
    "kvm_path": ("/opt/qemu", {}, "/opt/qemu"),
    "kvm_pci_reservations": (20, {}, "addr=0x14"),
    "machine_version": ("q35", {}, "-machine q35"),
    "mem_path": ("/huge", {}, "-mem-path /huge"),
    "nic_type": ("e1000", {}, "e1000,id=nic-n0"),
    "reboot_behavior": ("exit", {}, "-no-reboot"),
    "root_path": ("/dev/vdb", KERNEL, "root=/dev/vdb"),
    "scsi_controller_type": ("megasas", {"disk_type": "scsi"}, "megasas,id=scsi"),
    "serial_console": (False, {}, ""),
    "serial_speed": (9600, KERNEL, "console=ttyS0,9600"),
    "soundhw": ("ac97", {}, "AC97"),
    "spice_bind": ("0.0.0.0", {}, "-spice addr=0.0.0.0"),
    "spice_image_compression": ("quic", SPICE, "image-compression=quic"),
    "spice_ip_version": (6, SPICE, "ipv6=on"),
    "spice_jpeg_wan_compression": ("never", SPICE, "jpeg-wan-compression=never"),
    "spice_password_file": ("/secret", SPICE, "-spice"),
    "spice_playback_compression": (False, SPICE, "playback-compression=off"),
    "spice_streaming_video": ("off", SPICE, "streaming-video=off"),
    "spice_tls_ciphers": ("HIGH", {**SPICE, "spice_use_tls": True}, "tls-ciphers=HIGH"),
    "spice_use_tls": (True, SPICE, "tls-port=11000"),
    "spice_use_vdagent": (False, SPICE, "agent-mouse=off"),
    "spice_zlib_glz_wan_compression": ("always", SPICE, "zlib-glz-wan-compression=always"),
    "usb_devices": ("usb-kbd,usb-tablet", {}, "-device usb-kbd -device usb-tablet"),
    "usb_mouse": ("tablet", {}, "-usb -device usb-tablet"),
    "use_chroot": (True, {}, "-chroot /n1/var/run/ganeti/kvm-hypervisor/chroot/web1.example.com"),
    "use_guest_agent": (True, {}, "org.qemu.guest_agent.0"),
    "use_localtime": (True, {}, "base=localtime"),
    "user_shutdown": (True, {}, "-no-shutdown"),
    "vga": ("std", {}, "-vga std"),
    "vhost_net": (True, {}, "vhost=on"),
    "virtio_net_queues": (2, {}, "queues=2"),
    "vnc_bind_address": ("0.0.0.0", {}, "-vnc 0.0.0.0:5100"),
    "vnc_password_file": ("/secret", VNC, "password=on"),
    "vnc_tls": (True, VNC, "tls-creds-anon"),
    "vnc_x509_path": ("/x509", TLS, "dir=/x509"),
    "vnc_x509_verify": (True, X509, "verify-peer=on"),
    "vnet_hdr": (False, {}, "vnet_hdr=off"),
}
#: Where the others have their effect.
ELSEWHERE: Mapping[str, str] = {
    "cpu_mask": "the driver pins the threads of the running QEMU",
    "kvm_flag": "the acceleration probe",
    "security_domain": "the user that the driver asks QEMU to become",
    "security_model": "the user that the driver asks QEMU to become",
    "migration_bandwidth": "migration, which this driver does not do",
    "migration_caps": "migration, which this driver does not do",
    "migration_downtime": "migration, which this driver does not do",
    "migration_mode": "migration, which this driver does not do",
    "migration_port": "migration, which this driver does not do",
}


class EffectTests(SynchronousTestCase):
    """The tables above and the parameters' own table."""

    def test_complete(self) -> None:
        """Every parameter is in one of the tables, and nothing else is."""
        names = set(KvmParams.__struct_fields__)
        self.assertEqual(set(EFFECTS) | set(ELSEWHERE), names)
        self.assertEqual(set(EFFECTS) & set(ELSEWHERE), set())

    def test_effect(self) -> None:
        """Setting a parameter changes the command line, by the piece that was expected."""
        for name, (value, needed, piece) in EFFECTS.items():
            before = " ".join(qemu_argv(qemu_plan(**needed)))
            after = " ".join(qemu_argv(qemu_plan(**{**needed, name: value})))
            self.assertNotEqual(before, after, name)
            self.assertIn(piece, after, name)
            self.assertNotEqual(msgspec.to_builtins(KvmParams(kernel_path=""))[name], value, name)

    def test_elsewhere(self) -> None:
        """A parameter of the other table changes nothing on the command line."""
        values: Mapping[str, Any] = {"cpu_mask": "1", "kvm_flag": "disabled", "migration_port": 1}
        for name, value in values.items():
            self.assertEqual(qemu_argv(qemu_plan(**{name: value})), qemu_argv(qemu_plan()), name)

    def test_secrets(self) -> None:
        """The files of console passwords are not named on the command line."""
        passwords: list[tuple[Mapping[str, Any], str]] = [(VNC, "vnc_password_file"), (SPICE, "spice_password_file")]
        for needed, name in passwords:
            self.assertNotIn("/secret", " ".join(qemu_argv(qemu_plan(**{**needed, name: "/secret"}))))

    def test_acceleration_and_user(self) -> None:
        """What the probe and the pool decided is on the command line."""
        argv = " ".join(qemu_argv(qemu_plan(acceleration=Acceleration.KVM, run_as="61234:61234", cpu_type="host")))
        self.assertIn("-accel kvm", argv)
        self.assertIn("-runas 61234:61234", argv)
        self.assertIn("-cpu host", argv)

    def test_confined(self) -> None:
        """Who may open no files once it runs has its disks open as they are to be used; others open them as they need."""
        for params in (
            {"use_chroot": True},
            {"security_model": "pool"},
            {"security_model": "user", "security_domain": "kvm"},
        ):
            argv = qemu_argv(qemu_plan(disks=[attached()], **params))
            self.assertIn("auto-read-only=off", " ".join(argv), params)
        self.assertNotIn("auto-read-only", " ".join(qemu_argv(qemu_plan(disks=[attached()]))))

    def test_commas(self) -> None:
        """A comma in a path or an address is doubled, so it begins no option of its own."""
        paths: list[tuple[str, Mapping[str, Any]]] = [("cdrom_image_path", {}), ("floppy_image_path", {})]
        for name, needed in [*paths, ("vnc_x509_path", TLS)]:
            argv = " ".join(qemu_argv(qemu_plan(**{**needed, name: "/a,readonly=off"})))
            self.assertIn("/a,,readonly=off", argv)
        self.assertIn("::,,x", " ".join(qemu_argv(qemu_plan(vnc_bind_address="::,x"))))
