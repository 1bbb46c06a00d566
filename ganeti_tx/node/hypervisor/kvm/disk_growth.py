"""Telling a running QEMU that a disk of its guest has grown."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.kvm.command.disks import disk_id
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient

MIB = 1024 * 1024


async def tell_growth(client: QmpClient, instance_name: str, disk: DiskSpec) -> None:
    """Give the block device the size of the disk. @raise HypervisorError: the machine has no such disk, or refuses.

    One that the guest sees larger, as it was longer than recorded, stays so: QEMU would cut it off, with what is there.
    """
    for device in await client.execute("query-block"):
        if disk_id(disk.uuid) in names(device) or f"drive-{disk.uuid}" in names(device):
            size = max(disk.size * MIB, seen_size(device))
            await client.execute("block_resize", {**address(device), "size": size})
            return
    raise HypervisorError(f"instance {instance_name} runs without its disk {disk.uuid}")


def names(device: Mapping[str, Any]) -> Iterator[str]:
    """What a block device is called: its own name, that of the node below it, and each part of its path among devices."""
    yield str(device.get("device", ""))
    yield str(node_name(device))
    yield from str(device.get("qdev", "")).split("/")


def node_name(device: Mapping[str, Any]) -> str:
    """The name of what is behind a block device."""
    return str((device.get("inserted") or {}).get("node-name", ""))


def seen_size(device: Mapping[str, Any]) -> int:
    """The bytes that the guest sees; 0 where QEMU does not tell."""
    size = ((device.get("inserted") or {}).get("image") or {}).get("virtual-size")
    return size if isinstance(size, int) else 0


def address(device: Mapping[str, Any]) -> dict[str, str]:
    """By which name QEMU takes it: one that was made without a drive has only that of its node."""
    return {"device": str(device["device"])} if device.get("device") else {"node-name": node_name(device)}
