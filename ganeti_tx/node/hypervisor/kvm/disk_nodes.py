"""Which of the block devices that QEMU tells of are an instance's disks, and as what it reads them."""

from collections.abc import Iterable, Mapping
from typing import Any

from ganeti_tx.model.disk_formats import FORMATS
from ganeti_tx.node.hypervisor.kvm.disk_growth import names
from ganeti_tx.node.hypervisor.kvm.state import DiskState


def is_of(disk: DiskState, device: Mapping[str, Any]) -> bool:
    """Whether a block device, as `query-block` gives it, is a disk."""
    return bool({disk.device, f"drive-{disk.uuid}"} & set(names(device)))


def formats_read(disks: Iterable[DiskState], devices: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By the uuids of disks; what stands before a disk for a while, as while it is copied, tells none."""
    found = ((disk.uuid, driver(device)) for disk in disks for device in devices if is_of(disk, device))
    return {uuid: name for uuid, name in found if name in FORMATS}


def driver(device: Mapping[str, Any]) -> str:
    """What of QEMU's makes the guest's disk of what is in the file or device."""
    return str((device.get("inserted") or {}).get("drv", ""))
