"""Machines that come from another node while they run: the side of the node on which they will be."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import msgspec
from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, TlsPair
from ganeti_tx.node.hypervisor.kvm import disk_copies, migration
from ganeti_tx.node.hypervisor.kvm.coming_machines import ComingMachines
from ganeti_tx.node.hypervisor.kvm.command.disks import INTERFACES
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.migration_capabilities import wanted_capabilities
from ganeti_tx.node.hypervisor.kvm.migration_names import MANY_CONNECTIONS
from ganeti_tx.node.hypervisor.kvm.migration_tls import WAITS, MigrationKeys
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.node.hypervisor.kvm.planning import Planning
from ganeti_tx.node.hypervisor.kvm.qemu_log import complaints
from ganeti_tx.node.hypervisor.kvm.qmp import QmpLost, QmpSilent
from ganeti_tx.node.hypervisor.kvm.sent_machine import check_here, machine_of, picked
from ganeti_tx.node.hypervisor.kvm.starting import Starting
from ganeti_tx.node.hypervisor.kvm.state import Awaited
from ganeti_tx.node.hypervisor.kvm.taken_over import taking_over
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.runtime.files import IFiles

#: Of what a QEMU says that could not take a machine: its last lines, of which the very last one says the least.
MOST_LINES, LONGEST_LINE = 5, 200


@frozen
class Receiving:
    """QEMU does the work (`migration.py`); here is what it needs on this node. Disks that come along are written until it runs."""

    machines: OwnMachines
    files: IFiles
    clock: IReactorTime
    planning: Planning
    starting: Starting
    ending: Ending
    network: Network
    keys: MigrationKeys
    coming: ComingMachines

    async def accept(
        self,
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        info: Mapping[str, Any],
        address: str,
        tls: TlsPair | None,
        disks_come: bool,
        source: str,
    ) -> None:
        """See `ILiveMigration`: the same machine as the other one, waiting."""
        kind = kvm_params(instance.hvparams).disk_type
        if disks_come and kind in INTERFACES:
            raise HypervisorError(f"instance {instance.name}: disks of disk_type {kind} cannot be copied while it runs")
        layout = await self.starting.make_way(instance.name)
        with naming(instance.name):
            machine = machine_of(info)
            have = picked("disks", machine.disks, {disk.spec.uuid: disk for disk in disks})
            taken = taking_over(instance, machine)
            await self.planning.validate(taken.hvparams)
            plan = await self.planning.plan(taken, have, layout)
            check_here(machine, plan.acceleration.value, self.files)
            places = msgspec.to_builtins(machine.places)
            plan = attrs.evolve(plan, places=places, dimms=machine.dimms, plugged_vcpus=machine.plugged_vcpus)
            plan = attrs.evolve(plan, stopped=machine.stopped, incoming=True, disks_come=disks_come)
            await self.starting.bring_up(plan, True, partial(self._wait, address, tls, source))

    async def _wait(self, address: str, tls: TlsPair | None, source: str, plan: QemuPlan) -> None:
        """This daemon listens; QEMU itself where it takes more than one connection, or from where is not known."""
        async with self.machines.monitor(plan.files) as client:
            credentials = await self.keys.give(client, plan.files, plan.params, WAITS, tls)
            await migration.get_ready(client, plan.params, credentials)
            if not source or MANY_CONNECTIONS.intersection(wanted_capabilities(plan.params)):
                await migration.listen(client, plan.params, address)
                return
        awaited = Awaited(address=address, port=plan.params.migration_port, source=source)
        await self.coming.wait(plan.files, awaited)

    async def accept_again(self, instance: InstanceSpec, address: str) -> None:
        """See `IPostcopy`."""
        async with self.machines.running(instance.name) as running:
            place = migration.uri(address, kvm_params(instance.hvparams))
            await running.client.execute("migrate-recover", {"uri": place})

    async def take_over(self, instance_name: str) -> None:
        """See `ILiveMigration`."""
        async with self.machines.running(instance_name) as running:
            comes = running.state.waits  # one that has come already may have been stopped here since
            await migration.arrive(running.client, self.clock, running.state.stopped or not comes)
            if comes and running.state.stopped and _writes_late(running.state.params):
                await migration.run_for_a_moment(running.client)
            await disk_copies.withdraw(running.client)
            self.coming.end(instance_name)
            await running.remember(waits=False, awaited=None)
            if comes or running.state.unreached:  # what an older version made to come does not say so
                await self.network.connect_late(running.state.nics)
                await running.remember(unreached=False)
            await self.keys.take(running.client)

    async def refuse(self, instance_name: str, goes_on_elsewhere: bool) -> None:
        """See `ILiveMigration`. Whoever connects to a QEMU that waits, and says nothing, keeps it from answering."""
        layout = self.machines.layout(instance_name)
        self.coming.end(instance_name)
        if self.machines.pid(layout) is not None:
            try:
                async with self.machines.running(instance_name) as running:
                    if not await migration.is_refused(running.client, running.state.stopped):
                        raise HypervisorError("it runs here already")
            except HypervisorError as error:
                ended = isinstance(error.__cause__, QmpLost) and await self.ending.ends_by_itself(layout)
                silent = isinstance(error.__cause__ or error, QmpSilent)
                if not ended and not (silent and goes_on_elsewhere and self._waits(layout)):
                    raise
        await self.ending.end(layout, self.machines.readable_state(layout))

    async def missed(self, instance_name: str) -> MigrationProgress | None:
        """Why a machine has not come that was to; None: none was, or it has."""
        layout = self.machines.layout(instance_name)
        if not self._waits(layout) or (alive := await self._is_alive(instance_name)) is None:
            return None
        why = complaints(self.files, layout, MOST_LINES, LONGEST_LINE)
        if alive and not why:
            return MigrationProgress(MigrationState.ACTIVE)
        why = why or "its QEMU answers no more, and says nothing"
        return MigrationProgress(MigrationState.FAILED, reason=f"{why} ({layout.log})")

    async def _is_alive(self, instance_name: str) -> bool | None:
        """Whether what waits is there yet; None: the machine has come."""
        if self.machines.pid(self.machines.layout(instance_name)) is None:
            return False
        try:
            async with self.machines.running(instance_name) as running:
                return True if await migration.side_of(running.client) is Side.INCOMING else None
        except HypervisorError:
            return False

    def _waits(self, layout: InstanceLayout) -> bool:
        """Whether nobody has been told that a machine has come; of one that an older version made that is not known."""
        state = self.machines.state(layout)
        return state is not None and state.waits


def _writes_late(params: KvmParams | None) -> bool:
    """Whether QEMU writes what came of the variables of firmware to their file only when the guest runs."""
    return params is not None and params.uefi is True
