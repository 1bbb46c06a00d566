"""Node calls that bring a running instance to another node, or take one in."""

from typing import Any

from attrs import define

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import ILiveMigration
from ganeti_tx.node.instances import Instances
from ganeti_tx.rpc.calls.migration import (
    AcceptInstance,
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceGetMigrationStatus,
    InstanceMigrate,
    InstanceMigrationSide,
    MigrationInfo,
)

#: Seconds for which an answer waits for the end of a migration at most: the caller takes a long silence for a death.
MAX_WAIT = InstanceGetMigrationStatus.timeout / 2


@define
class Migrations:
    """Both sides of a migration; nothing of it is in this daemon's memory, so that it may be restarted at any time."""

    instances: Instances

    @answers(MigrationInfo)
    async def info(self, call: MigrationInfo) -> dict[str, Any]:
        """@raise HypervisorError: it does not run, or cannot be migrated, and why."""
        return dict(await self._of(call.instance.hypervisor).migration_info(call.instance))

    @answers(InstanceMigrationSide)
    async def side(self, call: InstanceMigrationSide) -> Side | None:
        """What is here."""
        return await self._of(call.hypervisor).migration_side(call.instance_name)

    @answers(AcceptInstance)
    async def accept(self, call: AcceptInstance) -> None:
        """Ready the disks, and wait for the instance."""
        hypervisor = self._of(call.instance.hypervisor)
        attached = await self.instances.disks.attach(call.instance)
        await self.instances.told.prepare(call.instance)
        await hypervisor.accept(call.instance, attached, call.info, call.target)

    @answers(InstanceMigrate)
    async def send(self, call: InstanceMigrate) -> None:
        """Begin."""
        await self._of(call.instance.hypervisor).send(call.instance, call.target, call.live)

    @answers(InstanceGetMigrationStatus)
    async def progress(self, call: InstanceGetMigrationStatus) -> MigrationProgress:
        """How far it is."""
        wait = min(max(call.wait, 0.0), MAX_WAIT)
        return await self._of(call.instance.hypervisor).migration_progress(call.instance.name, wait)

    @answers(InstanceFinalizeMigrationSrc)
    async def end_source(self, call: InstanceFinalizeMigrationSrc) -> None:
        """Leave nothing, or let it go on."""
        hypervisor = self._of(call.instance.hypervisor)
        if call.success:
            await hypervisor.leave_source(call.instance.name)
            self.instances.disks.links.unlink_all(call.instance.name)
            await self.instances.told.forget(call.instance.name)
        else:
            await hypervisor.stay_on_source(call.instance.name, call.target_is_gone)

    @answers(InstanceFinalizeMigrationDst)
    async def end_target(self, call: InstanceFinalizeMigrationDst) -> None:
        """Let it run, or leave nothing."""
        hypervisor = self._of(call.instance.hypervisor)
        if call.success:
            await hypervisor.take_over(call.instance.name)
            await self.instances.told.tell(call.instance)
        else:
            await hypervisor.refuse(call.instance.name)
            self.instances.disks.links.unlink_all(call.instance.name)

    def _of(self, name: str) -> ILiveMigration:
        hypervisor = self.instances.of(name)
        if not ILiveMigration.providedBy(hypervisor):
            raise HypervisorError(f"hypervisor {name} cannot migrate instances; use failover")
        return ILiveMigration(hypervisor)
