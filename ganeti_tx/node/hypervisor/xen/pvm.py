"""Paravirtualised instances: their kernel is a file of the node, or is found on their disk by a boot loader."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.model.hypervisors.xen_pvm import HYPERVISOR, XenPvmParams
from ganeti_tx.node.hypervisor.parameters import typed_params
from ganeti_tx.node.hypervisor.xen.drives import disk_entries
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import Exists
from ganeti_tx.node.hypervisor.xen.parameters import common_faults, missing
from ganeti_tx.node.hypervisor.xen.values import line
from ganeti_tx.node.hypervisor.xen.vifs import vif_entries


@frozen
class Paravirtual:
    """See `XenKind`."""

    name: str = "xen-pvm"
    lists_writes_by: Collection[str] = ("shadow",)

    def params(self, hvparams: Mapping[str, Any]) -> XenPvmParams:
        """See `XenKind`."""
        return typed_params(hvparams, XenPvmParams, "Xen")

    def password_file(self, hvparams: Mapping[str, Any]) -> str:
        """It has no display."""
        return ""

    def faults(self, hvparams: Mapping[str, Any], exists: Exists) -> Iterator[str]:
        """See `XenKind`."""
        yield from HYPERVISOR.wrong_values(hvparams)
        params = self.params(hvparams)
        yield from common_faults(params, exists)
        if params.use_bootloader:
            if not params.bootloader_path:
                yield "bootloader_path: use_bootloader needs one, such as /usr/lib/xen/bin/pygrub"
            yield from missing("bootloader_path", params.bootloader_path, exists)
            return
        if not params.kernel_path:
            yield "kernel_path: needed without use_bootloader"
        for fault in missing("kernel_path", params.kernel_path, exists):
            yield f"{fault}; set another one, or use_bootloader to find one on the instance's disk"
        yield from missing("initrd_path", params.initrd_path, exists)

    def lines(self, guest: Guest) -> Iterator[str]:
        """See `XenKind`."""
        params = self.params(guest.spec.hvparams)
        yield line("type", "pv")
        yield from _boot(params)
        yield line("disk", list(disk_entries(guest.disks, params.blockdev_prefix)))
        yield line("vif", list(vif_entries(guest.spec, params.vif_script)))


def _boot(params: XenPvmParams) -> Iterator[str]:
    if params.use_bootloader:
        yield line("bootloader", params.bootloader_path)
        if params.bootloader_args:
            yield line("bootloader_args", params.bootloader_args)
    else:
        yield line("kernel", params.kernel_path)
        if params.initrd_path:
            yield line("ramdisk", params.initrd_path)
    if params.root_path:
        yield line("root", params.root_path)
    if params.kernel_args:
        yield line("extra", params.kernel_args)
