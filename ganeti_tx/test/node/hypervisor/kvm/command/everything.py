"""Machines with every parameter set that can be set together: one with VNC, one with SPICE and UEFI."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ganeti_tx.node.hypervisor.kvm.command.build import qemu_argv
from ganeti_tx.test.node.hypervisor.kvm.parts import NIC_STATE, attached, qemu_plan

#: What both have.
COMMON: Mapping[str, Any] = {
    "cpu_mask": "0",
    "cpu_sockets": 2,
    "cpu_threads": 1,
    "cpu_type": "max",
    "disk_aio": "native",
    "disk_cache": "none",
    "disk_discard": "unmap",
    "keymap": "de",
    "kvm_extra": "-msg timestamp=on",
    "kvm_flag": "disabled",
    "kvm_pci_reservations": 14,
    "migration_bandwidth": 64,
    "migration_caps": "xbzrle",
    "migration_downtime": 50,
    "migration_mode": "non-live",
    "migration_port": 8200,
    "migration_tls": False,
    "reboot_behavior": "exit",
    "soundhw": "ac97,hda",
    "usb_devices": "keyboard",
    "usb_mouse": "tablet",
    "use_chroot": True,
    "use_guest_agent": True,
    "use_localtime": True,
    "user_shutdown": True,
}


def with_vnc(files: Path) -> dict[str, Any]:
    """It boots a kernel of the node, its disks and CD-ROMs are on SCSI, and its memory is in files."""
    return {
        **COMMON,
        "acpi": False,
        "cpu_cores": 1,
        "cdrom2_image_path": str(files / "second.iso"),
        "cdrom_disk_type": "scsi-cd",
        "cdrom_image_path": str(files / "first.iso"),
        "disk_type": "scsi",
        "floppy_image_path": str(files / "floppy"),
        "initrd_path": str(files / "initrd"),
        "kernel_args": "quiet",
        "kernel_path": str(files / "vmlinuz"),
        "machine_version": "pc",
        "mem_path": str(files / "pages"),
        "nic_type": "e1000",
        "root_path": "/dev/sda1",
        "scsi_controller_type": "virtio-scsi-pci",
        "security_domain": "nobody",
        "security_model": "user",
        "serial_speed": 115200,
        "vga": "std",
        "vnc_bind_address": "127.0.0.1",
        "vnc_password_file": str(files / "password"),
        "vnc_tls": True,
        "vnc_x509_path": str(files / "x509"),
        "vnc_x509_verify": True,
    }


def with_spice(files: Path) -> dict[str, Any]:
    """It boots by UEFI from the network or its disk, has a TPM, limits, and interfaces with several queues."""
    return {
        **COMMON,
        "boot_order": "network,disk",
        "cpu_cores": 2,
        "cpu_limit": 150,
        "cpu_weight": 50,
        "disk_iothread": True,
        "io_weight": 200,
        "kvm_path": "/usr/bin/qemu-system-x86_64",
        "machine_version": "q35",
        "max_memory": 1024,
        "max_vcpus": 4,
        "memory_limit": 2048,
        "secure_boot": True,
        "serial_console": False,
        "spice_bind": "127.0.0.1",
        "spice_image_compression": "quic",
        "spice_ip_version": 4,
        "spice_jpeg_wan_compression": "never",
        "spice_password_file": str(files / "password"),
        "spice_playback_compression": False,
        "spice_streaming_video": "filter",
        "spice_tls_ciphers": "HIGH",
        "spice_use_tls": True,
        "spice_use_vdagent": False,
        "spice_zlib_glz_wan_compression": "always",
        "tpm": True,
        "uefi": True,
        "vhost_net": True,
        "virtio_net_queues": 2,
        "vnet_hdr": True,
    }


MACHINES = (("A machine with VNC", with_vnc), ("A machine with SPICE", with_spice))


def argv_of(params: Mapping[str, Any], run_as: str) -> Sequence[str]:
    """How it is started, with one disk and one interface."""
    return qemu_argv(qemu_plan([attached()], [NIC_STATE], run_as=run_as, **params))


def text_of(argv: Sequence[str]) -> str:
    """A line for each argument with its value."""
    lines: list[str] = []
    for word in argv:
        if word.startswith("-") or not lines or " " in lines[-1] or not lines[-1].startswith("-"):
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return "\n".join(lines)
