"""Disks that come and go while QEMU runs."""

from collections.abc import Mapping
from contextlib import ExitStack

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.command.block_nodes import block_node, node_name, write_cache
from ganeti_tx.node.hypervisor.kvm.command.disks import (
    disk_device,
    disk_id,
    disk_place,
    drive_id,
    drive_option,
    is_confined,
    thread_id,
)
from ganeti_tx.node.hypervisor.kvm.command.options import arguments
from ganeti_tx.node.hypervisor.kvm.host_devices import IHostDevices, closing, opening
from ganeti_tx.node.hypervisor.kvm.hotplug.letting_go import LIMIT, let_go
from ganeti_tx.node.hypervisor.kvm.hotplug.offers import check_disks
from ganeti_tx.node.hypervisor.kvm.hotplug.placing import place_for
from ganeti_tx.node.hypervisor.kvm.qmp import QmpError
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance, inserted
from ganeti_tx.node.hypervisor.kvm.state import DiskState

#: How often, and with how many seconds between, data are closed that something still has.
CLOSE_TRIES = 50
CLOSE_PAUSE = 0.1
#: What QEMU's monitor for people says when it has done something.
DONE = "OK"
_ESCAPES: Mapping[str, str] = {"\\": "\\\\", '"': '\\"'}


@define
class DiskPlug:
    """Plugs disks in and out; what fails leaves neither device nor data source in QEMU."""

    host: IHostDevices
    clock: IReactorTime
    limit: float = LIMIT

    async def plug(self, machine: RunningInstance, spec: InstanceSpec, disk: AttachedDisk) -> None:
        """See `IHotplug.plug_disk`."""
        params, uuid = machine.params(spec), disk.spec.uuid
        device = disk_id(uuid)
        if device in await machine.devices():
            return
        await check_disks(machine.client, params)
        await self._forget(machine, uuid)
        place = await place_for(machine, params, device, lambda places: disk_place(params, places, uuid))
        state = DiskState(uuid=uuid, device=device, source=disk.path)
        await machine.remember(
            disks=inserted(machine.state.disks, state, disk.spec.index), places={**machine.state.places, device: place}
        )
        plugged = False
        try:
            drive = await self._add_source(machine, params, disk)
            if params.disk_iothread:
                await machine.client.execute("object-add", {"qom-type": "iothread", "id": thread_id(uuid)})
            values = disk_device(params, uuid, drive, place)
            await machine.client.execute("device_add", arguments(**values, write_cache=write_cache(params)))
            plugged = True
        finally:
            if not plugged:
                await self._forget(machine, uuid)

    async def unplug(self, machine: RunningInstance, uuid: str) -> None:
        """See `IHotplug.unplug_disk`."""
        await let_go(machine, disk_id(uuid), self.limit)
        await self._forget(machine, uuid)

    async def _add_source(self, machine: RunningInstance, params: KvmParams, disk: AttachedDisk) -> str:
        """What holds the data; its id in QEMU."""
        if disk.uri:
            await self._add_drive(machine, params, disk)
            return drive_id(disk.spec.uuid)
        with ExitStack() as stack:
            with opening(f"disk {disk.path}"):
                is_device = self.host.is_block_device(disk.path)
                filename = disk.path
                if is_confined(params):
                    descriptor = stack.enter_context(
                        closing(self.host.open_disk(disk.path, writable=disk.spec.mode != "ro"))
                    )
            if is_confined(params):
                # It stays in the set as long as the disk has it open, and while this connection lasts.
                added = await machine.client.execute("add-fd", descriptor=descriptor)
                filename = f"/dev/fdset/{added['fdset-id']}"
            await machine.client.execute("blockdev-add", block_node(params, disk, filename, is_device))
        return node_name(disk.spec.uuid)

    async def _add_drive(self, machine: RunningInstance, params: KvmParams, disk: AttachedDisk) -> None:
        """What QEMU opens itself by an address: only its command line, and its monitor for people, read such."""
        text = "".join(_ESCAPES.get(letter, letter) for letter in drive_option(params, disk, "none"))
        said = await self._tell(machine, f'drive_add 0 "{text}"')
        if said != DONE:
            raise HypervisorError(
                f"QEMU cannot open the disk: {said.splitlines()[0] if said else 'it does not say why'}"
            )

    async def _forget(self, machine: RunningInstance, uuid: str) -> None:
        """End the thread and close the data of a disk without a device, and remember it no more; QEMU drops by itself the data
        that it was started with."""
        if thread_id(uuid) in {str(each["id"]) for each in await machine.client.execute("query-iothreads")}:
            await self._close(machine, "object-del", {"id": thread_id(uuid)})
        nodes = await machine.client.execute("query-named-block-nodes", {"flat": True})
        if node_name(uuid) in {node.get("node-name") for node in nodes}:
            await self._close(machine, "blockdev-del", {"node-name": node_name(uuid)})
        if drive_id(uuid) in {block["device"] for block in await machine.client.execute("query-block")}:
            await self._tell(machine, f"drive_del {drive_id(uuid)}")
        if any(disk.uuid == uuid for disk in machine.state.disks):
            await machine.remember(disks=[disk for disk in machine.state.disks if disk.uuid != uuid])

    async def _close(self, machine: RunningInstance, command: str, what: Mapping[str, str]) -> None:
        """Remove what a device had; one that just went may hold it for a moment yet. @raise QmpError: it still does."""
        for left in reversed(range(CLOSE_TRIES)):
            try:
                await machine.client.execute(command, what)
            except QmpError:
                if left == 0:
                    raise
                await deferLater(self.clock, CLOSE_PAUSE)
            else:
                return

    async def _tell(self, machine: RunningInstance, line: str) -> str:
        return str(await machine.client.execute("human-monitor-command", {"command-line": line})).strip()
