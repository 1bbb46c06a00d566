"""Disks as QEMU takes them while it runs: the same as on the command line, in another notation."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.command.disks import drive_cache

#: Caches that do without the node's page cache; that tell the guest of no cache; that never wait for the disk.
DIRECT = frozenset({"none", "directsync"})
WRITE_THROUGH = frozenset({"writethrough", "directsync"})
NO_FLUSH = frozenset({"unsafe"})


def node_name(uuid: str) -> str:
    """The name of a disk's block node: QEMU takes at most 31 characters."""
    return "disk-" + "-".join(uuid.split("-")[:3])


def block_node(params: KvmParams, disk: AttachedDisk, filename: str, is_device: bool) -> Mapping[str, Any]:
    """The arguments of blockdev-add; `filename` is where QEMU finds the disk, which is a file or a device."""
    cache = drive_cache(params)
    common = {
        "read-only": disk.spec.mode == "ro",
        "cache": {"direct": cache in DIRECT, "no-flush": cache in NO_FLUSH},
        "discard": "unmap" if params.disk_discard == "unmap" else "ignore",
    }
    protocol = {"driver": "host_device" if is_device else "file", "filename": filename, "aio": params.disk_aio}
    alone = {"backing": None} if disk.spec.format == QCOW2 else {}  # it is made upon no other file
    image = {"driver": disk.spec.format, "node-name": node_name(disk.spec.uuid), **alone}
    return {**image, **common, "file": {**protocol, **common}}


def write_cache(params: KvmParams) -> str | None:
    """Whether the device tells its guest of a cache; None where that is not said."""
    return "off" if drive_cache(params) in WRITE_THROUGH else None
