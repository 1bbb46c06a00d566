"""Which values of the KVM parameters make sense, alone and together."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import HYPERVISOR, KvmParams, find_program, no_program
from ganeti_tx.model.ip_family import family_of, is_address, version_of
from ganeti_tx.node.hypervisor.affinity import parse_cpu_mask
from ganeti_tx.node.hypervisor.kvm import control_group
from ganeti_tx.node.hypervisor.kvm.command.devices import ALL_CARDS, HDA, SOUND, sound_cards, usb_device, words
from ganeti_tx.node.hypervisor.kvm.firmware import images
from ganeti_tx.node.hypervisor.kvm.migration_names import AGAINST_POSTCOPY, POSTCOPY
from ganeti_tx.node.hypervisor.kvm.tpm import PROGRAM
from ganeti_tx.node.hypervisor.parameters import typed_params
from ganeti_tx.runtime.paths import Paths

BOOT_DEVICES = ("floppy", "cdrom", "disk", "network")
#: Parameters that name a file on the node.
FILES = (
    *("kernel_path", "initrd_path", "cdrom_image_path", "cdrom2_image_path", "floppy_image_path"),
    *("mem_path", "vnc_x509_path", "vnc_password_file", "spice_password_file"),
)
#: Those of them that may be, or are, directories.
DIRECTORIES = frozenset({"mem_path", "vnc_x509_path"})
#: What QEMU looks for in the directory vnc_x509_path.
X509_FILES = ("ca-cert.pem", "server-cert.pem", "server-key.pem")
#: From where QEMU reads a CD-ROM by itself (its block driver curl).
URL_SCHEMES = ("http", "https", "ftp", "ftps")


def kvm_params(hvparams: Mapping[str, Any]) -> KvmParams:
    """The filled parameters with their types. @raise HypervisorError: one has the wrong type."""
    return typed_params(hvparams, KvmParams, "KVM")


def faults(params: KvmParams, exists: Callable[[Path], bool]) -> list[str]:
    """Everything that is wrong, a line each; `exists` tells whether a file is on this node."""
    node = (*_missing_files(params, exists), *control_group.faults(params, exists))
    return [*_wrong_values(params), *_contradictions(params), *node]


def spice_faults(params: KvmParams, paths: Paths, exists: Callable[[Path], bool]) -> Iterator[str]:
    """What of the cluster's files for SPICE with TLS is not there."""
    for path in (paths.spice_pem, paths.spice_ca_pem) if params.spice_bind and params.spice_use_tls else ():
        if not exists(path):
            yield f"spice_use_tls: {path} is not on this node; 'gnt-cluster renew-crypto --new-spice-certificate' makes it"


def _wrong_values(params: KvmParams) -> Iterator[str]:
    yield from HYPERVISOR.impossible_values(msgspec.structs.asdict(params))
    for device in params.boot_order.split(","):
        if device not in BOOT_DEVICES:
            yield f"boot_order: {device!r} is none of {', '.join(BOOT_DEVICES)}"
    for card in sound_cards(params.soundhw):
        if card not in (*SOUND, HDA):
            yield f"soundhw: {card!r} is none of {', '.join((*SOUND, HDA, ALL_CARDS))}"
    for item in words(params.usb_devices):
        try:
            usb_device(item)
        except HypervisorError as error:
            yield str(error)
    if params.spice_tls_ciphers and not _ciphers_known(params.spice_tls_ciphers):
        yield f"spice_tls_ciphers: {params.spice_tls_ciphers!r} names no cipher that OpenSSL knows here"
    try:
        parse_cpu_mask(params.cpu_mask)
    except ValueError as error:
        yield f"cpu_mask: {error}"


def _ciphers_known(ciphers: str) -> bool:
    """Whether OpenSSL, which SPICE has, too, knows one of a list."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(ciphers)
    except (ssl.SSLError, ValueError):
        return False
    return True


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
    told = version_of(family_of(params.spice_bind)) if is_address(params.spice_bind) else params.spice_ip_version
    if params.spice_ip_version not in (0, told):
        yield f"spice_ip_version: {params.spice_ip_version} is not that of spice_bind {params.spice_bind}"
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
    caps = set(params.migration_caps.split(":"))
    if caps.intersection(POSTCOPY) and (against := sorted(caps & AGAINST_POSTCOPY)):
        yield f"migration_caps: {', '.join(sorted(caps.intersection(POSTCOPY)))} does not go with {', '.join(against)}"
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
    if (directory := params.vnc_bind_address).startswith("/") and not exists(Path(directory)):
        yield f"vnc_bind_address: directory {directory} is not on this node"
    for file in X509_FILES if params.vnc_x509_path and exists(Path(params.vnc_x509_path)) else ():
        if not exists(path := Path(params.vnc_x509_path) / file):
            yield f"vnc_x509_path: {path} is not on this node"
    for image in images(params) if params.uefi else ():
        if not exists(image):
            yield f"uefi: {image} is not on this node; install ovmf"
    if params.tpm and not exists(Path(PROGRAM)):
        yield f"tpm: {PROGRAM} is not on this node; install swtpm"
    if params.vhost_net and not exists(Path("/dev/vhost-net")):
        yield "vhost_net: /dev/vhost-net is not on this node"
