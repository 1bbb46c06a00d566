"""Instances under QEMU that go to another node while they run, and come from there."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import msgspec
from attrs import define
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, ILiveMigration
from ganeti_tx.node.hypervisor.kvm import migration
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.node.hypervisor.kvm.users import user_of
from ganeti_tx.node.hypervisor.names import naming

#: Parameters that are a node's own affair: its program, and where displays listen.
OWN = frozenset({"kvm_path", "vnc_bind_address", "spice_bind"})


@implementer(ILiveMigration)
@define
class MigratingKvm(KvmHypervisor):
    """QEMU on both sides does the work (`migration.py`); here is what it needs on each of the nodes."""

    async def migration_info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """As ILiveMigration says."""
        async with self._running(instance.name) as running:
            wanted = migration.wanted_capabilities(kvm_params(instance.hvparams))
            started = running.params(instance)
            machine = await migration.describe(running.client, running.state, started, wanted, self.files)
            told: Mapping[str, Any] = msgspec.to_builtins(machine)
            return told

    async def accept(
        self, instance: InstanceSpec, disks: Sequence[AttachedDisk], info: Mapping[str, Any], address: str
    ) -> None:
        """As ILiveMigration says: the same machine as the other one, waiting."""
        layout = instance_layout(self.paths, instance.name)
        if self.ending.pid_of_living(layout) is not None:
            raise HypervisorError(f"instance {instance.name} runs already")
        await self.remains.clear(layout, states.load(self.files, layout))
        with naming(instance.name):
            machine = migration.machine_of(info)
            have = migration.picked("disks", machine.disks, {disk.spec.uuid: disk for disk in disks})
            plan = await self._plan(taking_over(instance, machine), have, layout)
            migration.check_here(machine, plan.acceleration.value, self.files)
            with user_of(self.uids, plan.params) as run_as:
                plan = attrs.evolve(plan, run_as=run_as, places=machine.places, incoming=True, dimms=machine.dimms)
                await self._bring_up(plan, True, partial(self._listen, address))

    async def _listen(self, address: str, plan: QemuPlan) -> None:
        async with self.monitors.open(plan.files.qmp) as client:
            await migration.listen(client, plan.params, address)

    async def send(self, instance: InstanceSpec, address: str, live: bool) -> None:
        """As ILiveMigration says. What the cluster allows a migration now counts, not what it was at the start."""
        async with self._running(instance.name) as running:
            await migration.send(running.client, kvm_params(instance.hvparams), address, live)

    async def migration_progress(self, instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """As ILiveMigration says."""
        async with self._running(instance_name) as running:
            if wait:
                await migration.wait_for_end(running.client, wait)
            return await migration.progress(running.client)

    async def migration_side(self, instance_name: str) -> Side | None:
        """As ILiveMigration says."""
        if self.ending.pid_of_living(instance_layout(self.paths, instance_name)) is None:
            return None
        async with self._running(instance_name) as running:
            return await migration.side_of(running.client)

    async def stay_on_source(self, instance_name: str, target_is_gone: bool) -> None:
        """As ILiveMigration says."""
        async with self._running(instance_name) as running:
            await migration.stay(running.client, self.ending.clock, target_is_gone)

    async def leave_source(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        side = await self.migration_side(instance_name)
        if side not in (None, Side.SENT):
            raise HypervisorError(f"instance {instance_name} runs here, it was not sent")
        await self.stop(instance_name, 0.0, force=True)

    async def take_over(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        async with self._running(instance_name) as running:
            await migration.arrive(running.client, self.ending.clock)
            await self.network.connect_late(running.state.nics)

    async def refuse(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        if self.ending.pid_of_living(instance_layout(self.paths, instance_name)) is not None:
            async with self._running(instance_name) as running:
                if not await migration.is_refused(running.client):
                    raise HypervisorError("it runs here already")
        await self.stop(instance_name, 0.0, force=True)


def taking_over(instance: InstanceSpec, machine: migration.SentMachine) -> InstanceSpec:
    """The instance as it runs elsewhere; what concerns this node alone, or the migration, is as it is configured now."""
    own = {name: value for name, value in instance.hvparams.items() if name in OWN or name.startswith("migration_")}
    hvparams = {**instance.hvparams, **machine.params, **own, "machine_version": machine.machine}
    beparams = {**instance.beparams, "maxmem": machine.memory, "vcpus": machine.vcpus}
    nics = migration.picked("network interfaces", machine.nics, {nic.uuid: nic for nic in instance.nics})
    return msgspec.structs.replace(instance, hvparams=hvparams, beparams=beparams, nics=nics)
