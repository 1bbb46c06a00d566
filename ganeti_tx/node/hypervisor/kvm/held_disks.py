"""Disks that are images: while a machine runs with one only it can change it."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.disk_growth import address
from ganeti_tx.node.hypervisor.kvm.disk_nodes import formats_read, is_of
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout, instance_layout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.state import DiskState

log = Logger()

#: Seconds; with a snapshot QEMU goes through the counters of all clusters, and does nothing else meanwhile.
SNAPSHOT_LIMIT = 600.0
#: Seconds for a question.
INFO_LIMIT = 5.0


@frozen
class HeldDisks:
    """Of all machines of this node; QEMU is asked over QMP."""

    machines: OwnMachines

    def holds(self, path: str) -> bool:
        """See `IDiskHolder`."""
        return next(self._holding(path), None) is not None

    async def resize(self, path: str, size: int) -> None:
        """See `IDiskHolder.resize_disk`."""
        async with self._block(path) as (client, where):
            await client.execute("block_resize", {**where, "size": size})

    async def snapshot(self, path: str, name: str) -> None:
        """See `IDiskHolder.snapshot_disk`."""
        async with self._block(path) as (client, where):
            [device] = where.values()
            told = {"device": device, "name": name}
            await client.execute("blockdev-snapshot-internal-sync", told, timeout=SNAPSHOT_LIMIT)

    async def drop_snapshot(self, path: str, name: str) -> None:
        """See `IDiskHolder`."""
        async with self._block(path) as (client, where):
            [device] = where.values()
            told = {"device": device, "name": name}
            await client.execute("blockdev-snapshot-delete-internal-sync", told, timeout=SNAPSHOT_LIMIT)

    async def disk_formats(self, instance_name: str) -> Mapping[str, str]:
        """See `ITellsFormats`."""
        layout = self.machines.layout(instance_name)
        state = self.machines.state(layout)
        if state is None or self.machines.pid(layout) is None:
            return {}
        async with self.machines.monitor(layout) as client:
            return formats_read(state.disks, await client.execute("query-block", timeout=INFO_LIMIT))

    def _holding(self, path: str) -> Iterator[tuple[InstanceLayout, DiskState]]:
        """The machines that have a disk, of which there is one at most; one that cannot be looked at hides no other."""
        for name in self.machines.names():
            try:
                layout = instance_layout(self.machines.paths, name)
                state = self.machines.state(layout)
            except HypervisorError as error:
                log.error("{error}", error=error)
                continue
            if state is not None and self.machines.pid(layout) is not None:
                yield from ((layout, disk) for disk in state.disks if disk.source == path)

    @asynccontextmanager
    async def _block(self, path: str) -> AsyncIterator[tuple[QmpClient, dict[str, str]]]:
        """The machine that has a disk, and by which name it knows it. @raise HypervisorError: none does."""
        found = next(self._holding(path), None)
        if found is None:
            raise HypervisorError(f"no instance runs with disk {path}")
        layout, disk = found
        async with self.machines.monitor(layout) as client:
            for device in await client.execute("query-block"):
                if is_of(disk, device):
                    yield client, address(device)
                    return
            raise HypervisorError(f"instance {layout.name} runs without its disk {disk.uuid}")
