"""Network interfaces that come and go while QEMU runs."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from attrs import define

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.kvm.command.nics import netdev_id, nic_device, nic_id, queues
from ganeti_tx.node.hypervisor.kvm.command.options import arguments
from ganeti_tx.node.hypervisor.kvm.host_devices import IHostDevices, closing, opening
from ganeti_tx.node.hypervisor.kvm.hotplug.letting_go import LIMIT, let_go
from ganeti_tx.node.hypervisor.kvm.hotplug.offers import check_nics
from ganeti_tx.node.hypervisor.kvm.hotplug.placing import place_for
from ganeti_tx.node.hypervisor.kvm.network import Network, TapOptions
from ganeti_tx.node.hypervisor.kvm.nic_files import name_taps
from ganeti_tx.node.hypervisor.kvm.qmp import QmpError
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance, inserted
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime, NicState


@define
class NicPlug:
    """Plugs interfaces in and out; what fails leaves neither device nor tap."""

    host: IHostDevices
    network: Network
    limit: float = LIMIT

    async def plug(self, machine: RunningInstance, spec: InstanceSpec, nic: NicSpec, index: int) -> None:
        """See `IHotplug.plug_nic`."""
        params, device = machine.params(spec), nic_id(nic.uuid)
        if device in await machine.devices():
            return
        await check_nics(machine.client, params)
        planned = await self.network.plan_one(spec, nic, index)
        await self._forget(machine, nic.uuid)
        place = await place_for(machine, params, device, lambda places: places.slot(device))
        await machine.remember(
            nics=inserted(machine.state.nics, planned, index), places={**machine.state.places, device: place}
        )
        plugged = False
        try:
            options = tap_options(params, owner_of(machine.state, params))
            await self.network.connect_one(planned, options)
            await self._add_backend(machine, params, planned, options)
            await machine.client.execute("device_add", arguments(**nic_device(params, planned, place)))
            await name_taps(machine.files, machine.layout, machine.state.nics)
            plugged = True
        finally:
            if not plugged:
                await self._forget(machine, nic.uuid)

    async def unplug(self, machine: RunningInstance, uuid: str) -> None:
        """See `IHotplug.unplug_nic`."""
        await let_go(machine, nic_id(uuid), self.limit)
        await self._forget(machine, uuid)

    async def _add_backend(
        self, machine: RunningInstance, params: KvmParams, nic: NicState, options: TapOptions
    ) -> None:
        """The node's end. The taps are opened here, as QEMU may not be allowed to."""
        netdev: dict[str, Any] = {"id": netdev_id(nic.uuid)}
        if not nic.tap:
            await machine.client.execute("netdev_add", {"type": "user", **netdev, "restrict": nic.restricted})
            return
        with ExitStack() as stack:
            count = queues(params, nic)
            with opening(f"tap {nic.tap}"):
                taps = [
                    stack.enter_context(closing(self.host.open_tap(nic.tap, options.vnet_hdr, options.multi_queue)))
                    for _ in range(count)
                ]
            netdev["fds"] = await self._hand_over(machine, f"tap-{nic.uuid}", taps)
            if params.vhost_net and params.nic_type == "paravirtual":
                with opening("/dev/vhost-net"):
                    movers = [stack.enter_context(closing(self.host.open_vhost())) for _ in range(count)]
                netdev.update(vhost=True, vhostfds=await self._hand_over(machine, f"vhost-{nic.uuid}", movers))
            await machine.client.execute("netdev_add", {"type": "tap", **netdev})

    async def _hand_over(self, machine: RunningInstance, prefix: str, descriptors: Sequence[int]) -> str:
        """Their names in QEMU, as netdev_add takes them."""
        names = [f"{prefix}-{number}" for number in range(len(descriptors))]
        for name, descriptor in zip(names, descriptors, strict=True):
            await machine.client.execute("getfd", {"fdname": name}, descriptor=descriptor)
        return ":".join(names)

    async def _forget(self, machine: RunningInstance, uuid: str) -> None:
        """Remove the node's end of an interface without a device, and remember it no more."""
        try:
            await machine.client.execute("netdev_del", {"id": netdev_id(uuid)})
        except QmpError as error:
            if error.error_class != "DeviceNotFound":
                raise
        if any(nic.uuid == uuid for nic in machine.state.nics):
            await self.network.release([nic for nic in machine.state.nics if nic.uuid == uuid], unplugged=True)
            await machine.remember(nics=[nic for nic in machine.state.nics if nic.uuid != uuid])
            await name_taps(machine.files, machine.layout, machine.state.nics)


def owner_of(state: InstanceRuntime, params: KvmParams) -> str:
    """Who QEMU has become, for whom taps are made; empty: nobody else."""
    if state.uid is not None:
        return str(state.uid)
    return params.security_domain if params.security_model == "user" else ""


def tap_options(params: KvmParams, owner: str) -> TapOptions:
    """How an instance's taps are made."""
    paravirtual = params.nic_type == "paravirtual"
    return TapOptions(
        vnet_hdr=paravirtual and params.vnet_hdr,
        multi_queue=paravirtual and params.virtio_net_queues > 1,
        owner=owner,
    )
