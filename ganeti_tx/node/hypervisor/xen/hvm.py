"""Fully virtualised instances: a firmware boots what is on their disk, a QEMU on the node emulates their devices."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisor import VNC_BASE_PORT
from ganeti_tx.model.hypervisors.xen_hvm import HYPERVISOR, XenHvmParams
from ganeti_tx.node.hypervisor.parameters import typed_params
from ganeti_tx.node.hypervisor.xen.drives import disk_entries
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import Exists
from ganeti_tx.node.hypervisor.xen.parameters import common_faults, missing
from ganeti_tx.node.hypervisor.xen.values import line
from ganeti_tx.node.hypervisor.xen.vifs import vif_entries

#: The values that stand for what Xen itself has; later Xens have it elsewhere, and find it by themselves.
OWN = {field.name: field.default for field in msgspec.structs.fields(XenHvmParams)}
_BOOT = re.compile(r"[acdn]{1,4}")
_PCI = re.compile(r"([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.I)


@frozen
class FullyVirtual:
    """See `XenKind`."""

    name: str = "xen-hvm"
    lists_writes_by: Collection[str] = ("hap", "shadow")

    def params(self, hvparams: Mapping[str, Any]) -> XenHvmParams:
        """See `XenKind`."""
        return typed_params(hvparams, XenHvmParams, "Xen")

    def password_file(self, hvparams: Mapping[str, Any]) -> str:
        """See `XenKind`."""
        params = self.params(hvparams)
        return params.vnc_password_file if params.vnc_bind_address else ""

    def faults(self, hvparams: Mapping[str, Any], exists: Exists) -> Iterator[str]:
        """See `XenKind`."""
        yield from HYPERVISOR.wrong_values(hvparams)
        params = self.params(hvparams)
        yield from common_faults(params, exists)
        for name in ("device_model", "kernel_path"):
            if (value := getattr(params, name)) != OWN[name]:
                yield from missing(name, value, exists)
        yield from missing("cdrom_image_path", params.cdrom_image_path, exists)
        yield from _display_faults(params, exists)
        if _BOOT.fullmatch(params.boot_order) is None:
            yield f"boot_order: {params.boot_order!r} is none of the letters a, c, d, n, once or several of them"
        for device in pci_devices(params):
            if _PCI.fullmatch(device) is None:
                yield f"pci_pass: {device!r} is no PCI address such as 0000:03:00.0"
        if params.disk_type == "ioemu" and params.blockdev_prefix == "xvd":
            yield "blockdev_prefix: with xvd no disk is emulated; disk_type ioemu needs hd or sd"

    def lines(self, guest: Guest) -> Iterator[str]:
        """See `XenKind`."""
        params = self.params(guest.spec.hvparams)
        yield line("type", "hvm")
        if params.kernel_path != OWN["kernel_path"]:
            yield line("firmware_override", params.kernel_path)
        if params.device_model != OWN["device_model"]:
            yield line("device_model_version", "qemu-xen")
            yield line("device_model_override", params.device_model)
        yield line("boot", params.boot_order)
        for name, value in (("acpi", params.acpi), ("apic", True), ("pae", params.pae), ("viridian", params.viridian)):
            yield line(name, value)
        yield line("localtime", params.use_localtime)
        yield line("serial", "pty")
        if devices := pci_devices(params):
            yield line("pci", devices)
        yield from _display(params, guest)
        yield line("disk", list(disk_entries(guest.disks, params.blockdev_prefix, params.cdrom_image_path)))
        yield line("vif", list(vif_entries(guest.spec, params.vif_script, nic_words(params))))


def pci_devices(params: XenHvmParams) -> list[str]:
    """The addresses that a parameter lists."""
    return [device for device in re.split(r"[;,\s]+", params.pci_pass) if device]


def nic_words(params: XenHvmParams) -> str:
    """What kind of interface a guest gets."""
    if params.nic_type == "paravirtual":
        return "type=vif"
    return f"type=ioemu,model={params.nic_type}"


def _display_faults(params: XenHvmParams, exists: Exists) -> Iterator[str]:
    if not params.vnc_bind_address:
        return
    for fault in missing("vnc_password_file", params.vnc_password_file, exists):
        yield f"{fault}; write a password into it, or set another one, or an empty one to have none"


def _display(params: XenHvmParams, guest: Guest) -> Iterator[str]:
    yield line("stdvga", False)
    yield line("sdl", False)
    yield line("vnc", bool(params.vnc_bind_address))
    if not params.vnc_bind_address:
        return
    port = guest.spec.network_port
    if port is None:
        raise HypervisorError("it has no network port for VNC")
    yield line("vnclisten", params.vnc_bind_address)
    yield line("vncdisplay", port - VNC_BASE_PORT)
    yield line("vncunused", False)
    if guest.password:
        yield line("vncpasswd", guest.password)
