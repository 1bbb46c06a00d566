"""No parameter is silently ignored: each one of the table changes what QEMU is started with, or what is done beside that."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.kvm import CHOICES, HYPERVISOR, KvmParams
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.node.hypervisor.kvm.acceleration import Acceleration
from ganeti_tx.node.hypervisor.kvm.command.build import qemu_argv
from ganeti_tx.test.model.facts_table import FACTS
from ganeti_tx.test.node.hypervisor.kvm.command.behaviours import BEHAVIOURS
from ganeti_tx.test.node.hypervisor.kvm.parts import attached, qemu_plan

KERNEL = {"kernel_path": "/k"}
CDROM = {"cdrom_image_path": "/iso"}
VNC: Mapping[str, Any] = {"vnc_bind_address": "0.0.0.0"}
TLS: Mapping[str, Any] = {**VNC, "vnc_tls": True}
X509 = {**TLS, "vnc_x509_path": "/x509"}
SPICE: Mapping[str, Any] = {"spice_bind": "0.0.0.0"}
SECURE: Mapping[str, Any] = {"uefi": True, "machine_version": "q35"}

#: A value that is not the built-in one, what else must be set for it, and a piece of the command line it brings about.
EFFECTS: Mapping[str, tuple[Any, Mapping[str, Any], str]] = {
    "acpi": (False, {}, "-no-acpi"),
    "boot_order": ("network,disk", {}, "bootindex=2"),
    "cdrom2_image_path": ("/iso2", {}, "file=/iso2"),
    "cdrom_disk_type": ("ide", CDROM, "ide-cd,drive=cdrom0"),
    "cdrom_image_path": ("/iso", {}, "file=/iso"),
    "cpu_cores": (2, {}, "cores=2"),
    "cpu_sockets": (2, {}, "sockets=2"),
    "cpu_threads": (2, {}, "threads=2"),
    "cpu_type": ("max", {}, "-cpu max"),
    "disk_aio": ("native", {}, "aio=native"),
    "disk_cache": ("writeback", {}, "cache=writeback"),
    "disk_discard": ("unmap", {}, "discard=unmap"),
    "disk_iothread": (True, {}, "iothread=thread-d0"),
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
    "max_memory": (512, {}, "maxmem=512M"),
    "max_vcpus": (8, {}, "maxcpus=8"),
    "mem_path": ("/huge", {}, "-mem-path /huge"),
    "nic_type": ("e1000", {}, "e1000,id=nic-n0"),
    "reboot_behavior": ("exit", {}, "-no-reboot"),
    "root_path": ("/dev/vdb", KERNEL, "root=/dev/vdb"),
    "scsi_controller_type": ("megasas", {"disk_type": "scsi"}, "megasas,id=scsi"),
    "secure_boot": (True, SECURE, "property=secure,value=on"),
    "serial_console": (False, {}, ""),
    "serial_speed": (9600, KERNEL, "console=ttyS0,9600"),
    "soundhw": ("ac97,hda", {}, "AC97"),
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
    "tpm": (True, {}, "tpm-crb"),
    "uefi": (True, {}, "OVMF_CODE_4M.fd"),
    "usb_devices": (
        "keyboard,usb-tablet host:1.2",
        {},
        "-device usb-kbd -device usb-tablet -device usb-host,hostbus=1",
    ),
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
#: What has its effect where no test of this driver sees it.
ELSEWHERE: Mapping[str, str] = {
    "migration_tls": "the job that migrates makes keys for it (logic/instance/moves/known_sides.py), as its test has it",
    "migration_mode": "the job that migrates asks for it (logic/instance/migrate.py), as that test has it",
}
#: For choices that need something else to be set.
NEEDED: Mapping[str, Mapping[str, Any]] = {"serial_speed": KERNEL}
#: So many words more than things that they say: a disk on SCSI is a hard disk, and a CD-ROM on SCSI a CD-ROM.
ALIKE: Mapping[str, int] = {"disk_type": 1, "cdrom_disk_type": 4}


class EffectTests(SynchronousTestCase):
    """The tables above and the parameters' own table."""

    def test_complete(self) -> None:
        """Every parameter of the table, and every one of ours, is in one of the tables, and nothing else is."""
        names = set(types_of(KvmParams))
        self.assertLessEqual(set(FACTS["hypervisor_params"]["kvm"]), names)
        places = [set(EFFECTS), set(BEHAVIOURS), set(ELSEWHERE)]
        self.assertEqual(set().union(*places), names)
        self.assertEqual(sum(map(len, places)), len(names))

    def test_effect(self) -> None:
        """Setting a parameter changes the command line, by the piece that was expected."""
        for name, (value, needed, piece) in EFFECTS.items():
            before = " ".join(qemu_argv(qemu_plan(**needed)))
            after = " ".join(qemu_argv(qemu_plan(**{**needed, name: value})))
            self.assertNotEqual(before, after, name)
            self.assertIn(piece, after, name)
            self.assertNotEqual(msgspec.to_builtins(KvmParams(kernel_path="")).get(name), value, name)

    def test_behaviour(self) -> None:
        """What a parameter does beside the command line is other than without it, and as it says; the command line is not."""
        for name, each in BEHAVIOURS.items():
            before, after = (
                self.shown(each.show, values) for values in (each.needed, {**each.needed, name: each.value})
            )
            self.assertNotEqual(before, after, name)
            self.assertIn(each.piece, after, name)
            if name not in ("security_domain", "security_model"):  # they say whom QEMU is told to become
                without, with_it = qemu_plan(**each.needed), qemu_plan(**{**each.needed, name: each.value})
                self.assertEqual(qemu_argv(without), qemu_argv(with_it), name)

    def shown(self, show: Callable[[KvmParams], Awaitable[str]], values: Mapping[str, Any]) -> str:
        """What is done with such parameters."""
        params = msgspec.convert({"kernel_path": "", **values}, KvmParams)

        async def run() -> str:
            return await show(params)

        return str(self.successResultOf(Deferred.fromCoroutine(run())))

    def test_choices(self) -> None:
        """Each word that a parameter may be is understood, and each that says something says something else."""
        for name in sorted(CHOICES.keys() & EFFECTS.keys()):
            needed = {**EFFECTS[name][1], **NEEDED.get(name, {})}
            seen = {choice: " ".join(qemu_argv(qemu_plan(**{**needed, name: choice}))) for choice in CHOICES[name]}
            said = {choice: argv for choice, argv in seen.items() if choice not in ("", 0, "default")}
            alike = ALIKE.get(name, 0)
            self.assertEqual(len(set(said.values())), len(said) - alike, name)

    def test_own(self) -> None:
        """What Ganeti does not know stands in no configuration by itself."""
        own = set(types_of(KvmParams)) - set(FACTS["hypervisor_params"]["kvm"])
        self.assertEqual(own & set(msgspec.to_builtins(KvmParams())), set())
        self.assertLessEqual(HYPERVISOR.keeps, own)

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
