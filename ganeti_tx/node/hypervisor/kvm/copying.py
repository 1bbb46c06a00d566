"""Disks that go with their machine to another node while it runs (`disk_copies.py`): begun before the machine is sent."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from msgspec.structs import replace
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import DiskCopyProgress
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.kvm import disk_copies, migration
from ganeti_tx.node.hypervisor.kvm.migration_capabilities import wanted_capabilities
from ganeti_tx.node.hypervisor.kvm.migration_names import POSTCOPY
from ganeti_tx.node.hypervisor.kvm.migration_tls import SENDS, MigrationKeys
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.node.hypervisor.kvm.sent_machine import check_told
from ganeti_tx.node.hypervisor.live import ENDED, SHUT_DOWN


@frozen
class Copying:
    """Both sides of them."""

    machines: OwnMachines
    clock: IReactorTime
    keys: MigrationKeys

    async def offer(self, instance: InstanceSpec, address: str, source: str) -> int:
        """See `ICopiesDisks.offer_disks`."""
        async with self.machines.running(instance.name) as running:
            if await migration.run_state(running.client) != migration.INCOMING:
                raise HypervisorError("it does not wait for its memory")
            uuids = [disk.uuid for disk in running.state.disks]
            known = await self.keys.known(running.client)
            return await disk_copies.offer(running.client, uuids, address, known, source)

    async def copy(
        self,
        instance: InstanceSpec,
        address: str,
        port: int,
        tls: TlsPair | None,
        source: str,
        told: Mapping[str, Any] | None,
    ) -> None:
        """See `ICopiesDisks.copy_disks`."""
        if set(POSTCOPY).intersection(wanted_capabilities(kvm_params(instance.hvparams))):
            raise HypervisorError(
                f"instance {instance.name}: disks are not copied to a node where it runs before its memory is there; take"
                f" {' and '.join(POSTCOPY)} out of migration_caps"
            )
        async with self.machines.running(instance.name) as running:
            await migration.check_can_go(running.client)
            stopped = await migration.is_stopped(running.client)
            check_told(told, stopped)
            await running.remember(stopped=stopped)
            await disk_copies.drop(running.client, self.clock)
            given = await self.keys.give(running.client, running.layout, running.params(instance), SENDS, tls)
            known = {"tls-creds": given, "tls-hostname": tls.peer_name} if tls is not None else {}
            uuids = [disk.uuid for disk in running.state.disks]
            begun = False
            try:
                await disk_copies.begin(running.client, self.clock, uuids, (address, port, source), known)
                begun = True
            finally:
                if not begun:
                    await disk_copies.drop(running.client, self.clock)

    async def progress(self, instance_name: str) -> DiskCopyProgress:
        """See `ICopiesDisks.copy_progress`."""
        if self.machines.pid(self.machines.layout(instance_name)) is None:
            return DiskCopyProgress(whole=False, copied=0, total=0, fault=ENDED)
        async with self.machines.running(instance_name) as running:
            told = await disk_copies.progress(running.client)
            return replace(told, fault=SHUT_DOWN) if await migration.is_powered_off(running.client) else told
