"""What a machine that comes from another node is like, and what of that the other node may say.

The two nodes need not trust one another more than the master trusts each: a node says what its machine is that a guest sees, so
that its memory fits. How a QEMU is confined here, what of this node it opens, and what it may use is as it is configured.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import HYPERVISOR, KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.kvm.machine_words import beside_type, of_type
from ganeti_tx.node.hypervisor.kvm.sent_machine import SentMachine, picked


class Says(Enum):
    """Who says what a parameter is on the new node."""

    #: The old node: it is a plain word or a number by which the guest's machine is what it is, and names nothing of a node.
    MACHINE = auto()
    #: The configuration: a guest does not see it.
    CONFIGURED = auto()
    #: The configuration; where one has something and the other has nothing, the machines would not be the same.
    CONFIGURED_IF_BOTH = auto()
    #: Both: it shapes the machine, and gives it something of the node.
    BOTH = auto()


WHO_SAYS: Mapping[str, Says] = {
    **dict.fromkeys(
        (
            *("acpi", "boot_order", "cpu_cores", "cpu_sockets", "cpu_threads", "cpu_type", "kvm_pci_reservations"),
            *("machine_version", "max_memory", "max_vcpus", "nic_type", "scsi_controller_type", "serial_console"),
            *("soundhw", "spice_use_vdagent", "usb_mouse", "use_guest_agent", "use_localtime", "vga"),
            *("virtio_net_queues", "vnet_hdr"),
        ),
        Says.MACHINE,
    ),
    **dict.fromkeys(
        (
            *("cpu_limit", "cpu_mask", "cpu_weight", "disk_aio", "disk_cache", "disk_discard", "disk_iothread"),
            *("initrd_path", "io_weight", "kernel_args", "keymap", "kvm_flag", "kvm_path", "mem_path", "memory_limit"),
            *("migration_bandwidth", "migration_caps", "migration_downtime", "migration_mode", "migration_port"),
            *("migration_tls", "reboot_behavior", "root_path", "security_domain", "security_model", "serial_speed"),
            *("spice_image_compression", "spice_ip_version", "spice_jpeg_wan_compression", "spice_password_file"),
            *("spice_playback_compression", "spice_streaming_video", "spice_tls_ciphers", "spice_use_tls"),
            *("spice_zlib_glz_wan_compression", "use_chroot", "user_shutdown", "vnc_password_file", "vnc_tls"),
            *("vnc_x509_path", "vnc_x509_verify"),
        ),
        Says.CONFIGURED,
    ),
    **dict.fromkeys(("kernel_path", "spice_bind", "vnc_bind_address"), Says.CONFIGURED_IF_BOTH),
    # Some kinds of disks let the guest send any command to the node's device.
    **dict.fromkeys(
        (
            *(
                "cdrom2_image_path",
                "cdrom_disk_type",
                "cdrom_image_path",
                "disk_type",
                "floppy_image_path",
                "kvm_extra",
            ),
            *("secure_boot", "tpm", "uefi", "usb_devices", "vhost_net"),
        ),
        Says.BOTH,
    ),
}
TYPE = "machine_version"
#: Words with commas between: kinds of devices, and a processor with its features and their values.
_PLAIN = re.compile(r"[A-Za-z0-9_.,=+-]{0,4096}")
_DEFAULTS: Mapping[str, Any] = {**msgspec.to_builtins(KvmParams()), **HYPERVISOR.unset}


def taking_over(instance: InstanceSpec, machine: SentMachine) -> InstanceSpec:
    """The instance as it runs elsewhere, as far as that is to be. @raise HypervisorError: it was changed since it was started."""
    if changed := [*_changed(instance, machine)]:
        raise HypervisorError(
            f"it was changed since it was started: {'; '.join(changed)}; restart it before it is migrated, or fail it over"
        )
    if sum(machine.dimms) >= machine.memory:
        raise HypervisorError(f"memory modules of {machine.dimms} MiB are no part of {machine.memory} MiB")
    if machine.plugged_vcpus >= machine.vcpus:
        raise HypervisorError(f"{machine.plugged_vcpus} plugged processors are no part of {machine.vcpus}")
    seen = {name: value for name, value in machine.params.items() if WHO_SAYS.get(name) is Says.MACHINE}
    words = of_type(machine.machine, str(instance.hvparams.get(TYPE) or ""))
    hvparams = {**instance.hvparams, **seen, TYPE: words}
    beparams = {**instance.beparams, "maxmem": machine.memory, "vcpus": machine.vcpus}
    nics = picked("network interfaces", machine.nics, {nic.uuid: nic for nic in instance.nics})
    return msgspec.structs.replace(instance, hvparams=hvparams, beparams=beparams, nics=nics)


def _is_plain(name: str, runs: object, configured: object) -> bool:
    """Whether it names nothing of a node; what the machine has beside its type is the administrator's, who may name such."""
    if name == TYPE:
        return beside_type(str(runs)) == beside_type(str(configured))
    return not isinstance(runs, str) or _PLAIN.fullmatch(runs) is not None


def _changed(instance: InstanceSpec, machine: SentMachine) -> Iterator[str]:
    """What does not go with how it runs, a few words each."""
    for name, says in sorted(WHO_SAYS.items()):
        runs, configured = (given.get(name, _DEFAULTS[name]) for given in (machine.params, instance.hvparams))
        differs = runs != configured if says is Says.BOTH else bool(runs) is not bool(configured)
        if differs and says in (Says.BOTH, Says.CONFIGURED_IF_BOTH):
            yield f"{name} is {configured!r}, and it runs with {runs!r:.200}"
        if says is Says.MACHINE and runs != configured and not _is_plain(name, runs, configured):
            yield f"{name} is {configured!r}, and it runs with {runs!r:.200}, which another node may not choose"
    for name, has in (("maxmem", machine.memory), ("vcpus", machine.vcpus)):
        if has > int(instance.beparams[name]):
            yield f"{name} is {instance.beparams[name]}, and it runs with {has}"
