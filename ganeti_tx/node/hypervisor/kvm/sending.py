"""Machines that go to another node while they run: the side of the node on which they have been."""

from collections.abc import Mapping
from typing import Any

import msgspec
from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.kvm import disk_copies, migration
from ganeti_tx.node.hypervisor.kvm.ended_tpms import EndedTpms
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.migration_capabilities import wanted_capabilities
from ganeti_tx.node.hypervisor.kvm.migration_tls import SENDS, MigrationKeys
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.sent_machine import check_told, describe
from ganeti_tx.runtime.files import IFiles


@frozen
class Sending:
    """QEMU does the work (`migration.py`); here is what it needs on this node.

    Copies of disks that were begun before (`copying.py`) end, whole, when the machine stands still for its last memory.
    """

    machines: OwnMachines
    files: IFiles
    clock: IReactorTime
    ending: Ending
    keys: MigrationKeys
    tpms: EndedTpms

    async def info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """See `ILiveMigration.migration_info`."""
        async with self.machines.running(instance.name) as running:
            wanted = wanted_capabilities(kvm_params(instance.hvparams))
            started = running.params(instance)
            self.tpms.check(running.layout, started)
            machine = await describe(running.client, running.state, started, wanted, self.files)
            told: Mapping[str, Any] = msgspec.to_builtins(machine)
            return told

    async def send(
        self,
        instance: InstanceSpec,
        address: str,
        live: bool,
        tls: TlsPair | None,
        source: str,
        told: Mapping[str, Any] | None,
    ) -> None:
        """See `ILiveMigration`. What the cluster allows a migration now counts, not what it was at the start.

        Its new node was told by `info` whether the guest is stopped, before copies of disks were begun, which may be hours ago.
        """
        params = kvm_params(instance.hvparams)
        async with self.machines.running(instance.name) as running:
            await migration.check_can_go(running.client)
            stopped = await migration.is_stopped(running.client)
            if stopped is not running.state.stopped and await disk_copies.jobs(running.client):
                raise HypervisorError(
                    "its guest was stopped, or let run, while its disks were copied; migrate it again"
                )
            check_told(told, stopped)
            await running.remember(stopped=stopped)
            if tls is None and not source:
                await self.keys.take(running.client)
                await migration.send(running.client, params, address, live)
                return
            started = running.params(instance)
            credentials = await self.keys.give(running.client, running.layout, started, SENDS, tls)
            known = {"tls-creds": credentials, "tls-hostname": tls.peer_name if tls is not None else ""}
            await migration.send_to_known(running.client, self.clock, params, address, live, known, source)

    async def send_again(self, instance: InstanceSpec, address: str) -> None:
        """See `IPostcopy`; who waits is known by what it was known by before."""
        async with self.machines.running(instance.name) as running:
            params = kvm_params(instance.hvparams)
            await migration.send_over_link(running.client, self.clock, params, address, "", resume=True)

    async def progress(self, instance_name: str, wait: float) -> MigrationProgress:
        """See `ILiveMigration.migration_progress`; when it stands still the copies are left as they are, whole."""
        async with self.machines.running(instance_name) as running:
            told = await progress_of(running.client, self.clock, wait)
            if not await migration.holds(running.client):
                return told
            await disk_copies.part(running.client, self.clock)
            await migration.go_on(running.client)
            return await progress_of(running.client, self.clock, wait)

    async def side(self, instance_name: str) -> Side | None:
        """See `ILiveMigration.migration_side`."""
        if self.machines.pid(self.machines.layout(instance_name)) is None:
            return None
        async with self.machines.running(instance_name) as running:
            return await migration.side_of(running.client)

    async def stay(self, instance_name: str, target_is_gone: bool) -> None:
        """See `ILiveMigration.stay_on_source`."""
        async with self.machines.running(instance_name) as running:
            await migration.stay(running.client, self.clock, target_is_gone, running.state.stopped)
            await disk_copies.drop(running.client, self.clock)
            await self.keys.take(running.client)

    async def leave(self, instance_name: str, target_is_gone: bool) -> None:
        """See `ILiveMigration.leave_source`."""
        side = await self.side(instance_name)
        if side is Side.FETCHED and not target_is_gone:
            raise HypervisorError(
                f"instance {instance_name} runs elsewhere, where some of its memory is missing yet, which is here"
            )
        if side not in (None, Side.SENT, Side.FETCHED):
            raise HypervisorError(f"instance {instance_name} runs here, it was not sent")
        layout = self.machines.layout(instance_name)
        await self.ending.end(layout, self.machines.readable_state(layout))


async def progress_of(client: QmpClient, clock: IReactorTime, wait: float) -> MigrationProgress:
    """How far it is when it has ended, or holds, or after so many seconds."""
    if wait:
        await migration.wait_for_end(client, wait)
    return await migration.progress(client, clock)
