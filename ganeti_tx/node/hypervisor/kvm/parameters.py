"""Which values of the KVM parameters make sense, alone and together."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import HYPERVISOR, KvmParams, find_program, no_program
from ganeti_tx.node.hypervisor.affinity import parse_cpu_mask
from ganeti_tx.node.hypervisor.kvm import control_group
from ganeti_tx.node.hypervisor.kvm.command.devices import ALL_CARDS, HDA, SOUND, sound_cards
from ganeti_tx.node.hypervisor.kvm.firmware import images
from ganeti_tx.node.hypervisor.kvm.tpm import PROGRAM

BOOT_DEVICES = ("floppy", "cdrom", "disk", "network")
#: Parameters that name a file on the node.
FILES = (
    *("kernel_path", "initrd_path", "cdrom_image_path", "cdrom2_image_path", "floppy_image_path"),
    *("mem_path", "vnc_x509_path", "vnc_password_file", "spice_password_file"),
)
#: From where QEMU reads a CD-ROM by itself (its block driver curl).
URL_SCHEMES = ("http", "https", "ftp", "ftps")
MAX_PCI_RESERVATIONS = 31
MAX_QUEUES = 8
#: The most that QEMU's machine of the kind q35 has; 16 TiB.
MAX_VCPUS = 288
MAX_MEMORY = 16 << 20
#: The kernel's, of control groups.
MAX_WEIGHT = 10_000


def kvm_params(hvparams: Mapping[str, Any]) -> KvmParams:
    """The filled parameters with their types. @raise HypervisorError: one has the wrong type."""
    try:
        return msgspec.convert(hvparams, KvmParams)
    except msgspec.ValidationError as error:
        raise HypervisorError(f"KVM parameters: {error}")


def faults(params: KvmParams, exists: Callable[[Path], bool]) -> list[str]:
    """Everything that is wrong, a line each; `exists` tells whether a file is on this node."""
    node = (*_missing_files(params, exists), *control_group.faults(params, exists))
    return [*_unknown_values(params), *_contradictions(params), *node]


def _unknown_values(params: KvmParams) -> Iterator[str]:
    yield from HYPERVISOR.unknown_values(msgspec.structs.asdict(params))
    for device in params.boot_order.split(","):
        if device not in BOOT_DEVICES:
            yield f"boot_order: {device!r} is none of {', '.join(BOOT_DEVICES)}"
    for name, lowest, highest in (
        ("virtio_net_queues", 1, MAX_QUEUES),
        ("kvm_pci_reservations", 0, MAX_PCI_RESERVATIONS),
        ("cpu_cores", 0, 1024),
        ("cpu_threads", 0, 1024),
        ("cpu_sockets", 0, 1024),
        ("max_vcpus", 0, MAX_VCPUS),
        ("max_memory", 0, MAX_MEMORY),
        ("cpu_limit", 0, 100 * MAX_VCPUS),
        ("memory_limit", 0, MAX_MEMORY),
        ("cpu_weight", 1, MAX_WEIGHT),
        ("io_weight", 1, MAX_WEIGHT),
    ):
        value = getattr(params, name)
        if value is not UNSET and not lowest <= value <= highest:
            yield f"{name}: {value} is not between {lowest} and {highest}"
    for card in sound_cards(params.soundhw):
        if card not in (*SOUND, HDA):
            yield f"soundhw: {card!r} is none of {', '.join((*SOUND, HDA, ALL_CARDS))}"
    try:
        parse_cpu_mask(params.cpu_mask)
    except ValueError as error:
        yield f"cpu_mask: {error}"


def _contradictions(params: KvmParams) -> Iterator[str]:
    if params.initrd_path and not params.kernel_path:
        yield "initrd_path: needs a kernel_path"
    if params.kernel_path and not params.root_path:
        yield "root_path: needed with a kernel_path, or empty the kernel_path to boot from the disk"
    if params.virtio_net_queues > 1 and not params.vnet_hdr:
        yield "virtio_net_queues: more than one needs vnet_hdr"
    if params.virtio_net_queues > 1 and params.nic_type != "paravirtual":
        yield f"virtio_net_queues: more than one needs nic_type paravirtual, not {params.nic_type}"
    if params.vhost_net and params.nic_type != "paravirtual":
        yield f"vhost_net: needs nic_type paravirtual, not {params.nic_type}"
    if params.security_model == "user" and not params.security_domain:
        yield "security_domain: security_model user needs the name of a user here"
    if params.security_model != "user" and params.security_domain:
        yield f"security_domain: has no meaning with security_model {params.security_model}"
    if params.vnc_bind_address and params.spice_bind:
        yield "spice_bind: cannot be used together with vnc_bind_address"
    if params.vnc_x509_verify and not params.vnc_x509_path:
        yield "vnc_x509_path: needed by vnc_x509_verify"
    if params.vnc_x509_path and not params.vnc_tls:
        yield "vnc_x509_path: has no meaning without vnc_tls"
    for name in ("max_vcpus", "max_memory"):
        if getattr(params, name) and not params.acpi:
            yield f"{name}: the guest is told of what comes by acpi only"
    if params.disk_iothread and params.disk_type != "paravirtual":
        yield f"disk_iothread: needs disk_type paravirtual, not {params.disk_type}"
    if params.secure_boot and not params.uefi:
        yield "secure_boot: needs uefi"
    if params.secure_boot and "q35" not in params.machine_version:
        yield f"secure_boot: needs a machine_version of the kind q35, not {params.machine_version or 'the default one'}"
    if params.uefi and params.disk_type == "pflash":
        yield "uefi: the firmware has the places of disk_type pflash"
    for device in params.boot_order.split(","):
        image = {"cdrom": params.cdrom_image_path, "floppy": params.floppy_image_path}.get(device)
        if image == "" and not params.kernel_path:
            yield f"boot_order: there is no {device}, set {device}_image_path"


def _url_faults(name: str, value: str) -> Iterator[str]:
    """Why QEMU would not read a CD-ROM from there, or should not."""
    scheme, _, rest = value.partition("://")
    if scheme not in URL_SCHEMES:
        yield f"{name}: {scheme}:// is none of {', '.join(f'{each}://' for each in URL_SCHEMES)}"
    if "@" in rest.partition("/")[0]:
        yield f"{name}: a URL with a user's name would show the password to everybody on the node"


def with_program(params: KvmParams, exists: Callable[[Path], bool]) -> KvmParams:
    """The same with the program that is on this node, when there is one."""
    return msgspec.structs.replace(params, kvm_path=find_program(params.kvm_path, exists) or params.kvm_path)


def _missing_files(params: KvmParams, exists: Callable[[Path], bool]) -> Iterator[str]:
    if not params.kvm_path.startswith("/"):
        yield f"kvm_path: {params.kvm_path!r} is not an absolute path"
    elif find_program(params.kvm_path, exists) is None:
        yield f"kvm_path: {no_program(params.kvm_path)}"
    for name in FILES:
        value = getattr(params, name)
        if not value:
            continue
        if name.startswith("cdrom") and "://" in value:
            yield from _url_faults(name, value)
        elif not value.startswith("/"):
            yield f"{name}: {value!r} is not an absolute path"
        elif not exists(Path(value)):
            hint = "; set another one, or an empty one to boot from the disk" if name == "kernel_path" else ""
            yield f"{name}: {value} is not on this node{hint}"
    for image in images(params) if params.uefi else ():
        if not exists(image):
            yield f"uefi: {image} is not on this node; install ovmf"
    if params.tpm and not exists(Path(PROGRAM)):
        yield f"tpm: {PROGRAM} is not on this node; install swtpm"
    if params.vhost_net and not exists(Path("/dev/vhost-net")):
        yield "vhost_net: /dev/vhost-net is not on this node"
