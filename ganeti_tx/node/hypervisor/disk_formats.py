"""Disks that only QEMU can read."""

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk


def check_raw(disk: AttachedDisk) -> None:
    """@raise HypervisorError: the node itself, or another hypervisor, would take for data what is none."""
    if disk.uri is not None:
        raise HypervisorError(f"disk {disk.spec.index} is reached by QEMU only ({disk.uri}), not by the node itself")
    if disk.spec.format != RAW:
        raise HypervisorError(
            f"disk {disk.spec.index} is of format {disk.spec.format}, which QEMU can read, and not the node itself"
        )
