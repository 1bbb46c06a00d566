"""Node calls that bring a running instance to another node, or take one in."""

from typing import Any

from attrs import define

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.migration import DiskCopyProgress, MigrationProgress, MigrationTls, Side
from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.copying_interface import ICopiesDisks
from ganeti_tx.node.hypervisor.interfaces import ILiveMigration, IPostcopy, TlsPair
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.other_machines import is_others
from ganeti_tx.node.transfer_keys import TransferKeys
from ganeti_tx.rpc.calls.disk_copies import InstanceCopyDisks, InstanceCopyStatus, InstanceOfferDisks
from ganeti_tx.rpc.calls.migration import (
    AcceptInstance,
    InstanceAcceptAgain,
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
    keys: TransferKeys

    @answers(MigrationInfo)
    async def info(self, call: MigrationInfo) -> dict[str, Any]:
        """@raise HypervisorError: it does not run, or cannot be migrated, and why."""
        return dict(await self._of(call.instance.hypervisor).migration_info(call.instance))

    @answers(InstanceMigrationSide)
    async def side(self, call: InstanceMigrationSide) -> Side | None:
        """What is here; nothing where another one's machine has its name."""
        if await is_others(self.instances.of(call.hypervisor), call.instance_name, call.instance_uuid):
            return None
        return await self._of(call.hypervisor).migration_side(call.instance_name)

    @answers(AcceptInstance)
    async def accept(self, call: AcceptInstance) -> None:
        """Ready the disks, and wait for the instance."""
        hypervisor = self._of(call.instance.hypervisor)
        attached = await self.instances.disks.attach(call.instance)
        await self.instances.told.prepare(call.instance)
        pair = self._pair(call.tls)
        await hypervisor.accept(call.instance, attached, call.info, call.target, pair, call.disks_come, call.source)

    @answers(InstanceMigrate)
    async def send(self, call: InstanceMigrate) -> None:
        """Begin, or go on."""
        if call.again:
            await self._again(call.instance.hypervisor).send_again(call.instance, call.target)
        else:
            pair = self._pair(call.tls)
            source = self._of(call.instance.hypervisor)
            await source.send(call.instance, call.target, call.live, pair, call.source, call.info)

    @answers(InstanceAcceptAgain)
    async def accept_again(self, call: InstanceAcceptAgain) -> None:
        """Wait."""
        await self._again(call.instance.hypervisor).accept_again(call.instance, call.target)

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
            await hypervisor.leave_source(call.instance.name, call.target_is_gone)
            self.instances.disks.links.unlink_all(call.instance.name)
            await self.instances.told.forget(call.instance.name)
        else:
            await hypervisor.stay_on_source(call.instance.name, call.target_is_gone)

    @answers(InstanceFinalizeMigrationDst)
    async def end_target(self, call: InstanceFinalizeMigrationDst) -> str | None:
        """Let it run, or leave nothing."""
        hypervisor = self._of(call.instance.hypervisor)
        if call.success:
            await hypervisor.take_over(call.instance.name)
            return await self.instances.told.tell(call.instance)
        await hypervisor.refuse(call.instance.name, call.goes_on_elsewhere)
        self.instances.disks.links.unlink_all(call.instance.name)
        return None

    @answers(InstanceOfferDisks)
    async def offer_disks(self, call: InstanceOfferDisks) -> int:
        """Where its old node finds them."""
        return await self._copies(call.instance.hypervisor).offer_disks(call.instance, call.target, call.source)

    @answers(InstanceCopyDisks)
    async def copy_disks(self, call: InstanceCopyDisks) -> None:
        """Begin."""
        copies = self._copies(call.instance.hypervisor)
        await copies.copy_disks(call.instance, call.target, call.port, self._pair(call.tls), call.source, call.info)

    @answers(InstanceCopyStatus)
    async def copy_progress(self, call: InstanceCopyStatus) -> DiskCopyProgress:
        """How far they are."""
        return await self._copies(call.instance.hypervisor).copy_progress(call.instance.name)

    def _copies(self, name: str) -> ICopiesDisks:
        hypervisor = self.instances.of(name)
        if not ICopiesDisks.providedBy(hypervisor):
            raise HypervisorError(f"hypervisor {name} cannot take the disks of instances along while they run")
        return ICopiesDisks(hypervisor)

    def _pair(self, tls: MigrationTls | None) -> TlsPair | None:
        """@raise X509CertError: this node's key is not there."""
        if tls is None:
            return None
        return TlsPair(self.keys.identity(tls.key), tls.peer.encode(), tls.peer_name)

    def _again(self, name: str) -> IPostcopy:
        hypervisor = self.instances.of(name)
        if not IPostcopy.providedBy(hypervisor):
            raise HypervisorError(f"hypervisor {name} runs no instance before all of its memory is there")
        return IPostcopy(hypervisor)

    def _of(self, name: str) -> ILiveMigration:
        hypervisor = self.instances.of(name)
        if not ILiveMigration.providedBy(hypervisor):
            raise HypervisorError(f"hypervisor {name} cannot migrate instances; use failover")
        return ILiveMigration(hypervisor)
