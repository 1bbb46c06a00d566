"""Domains that go to another node while they run: the side of the node on which they have been."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen import migration
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.listed import PAUSED
from ganeti_tx.node.hypervisor.xen.moves import DomainMoves
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.record import Role, load_domain, load_move
from ganeti_tx.node.hypervisor.xen.relay import Relays, give_keys
from ganeti_tx.runtime.files import IFiles

#: Seconds until xl has given up what it was made to.
GIVE_UP_LIMIT = 120.0


@frozen
class DomainSending:
    """The xls of both nodes do the work (`migration.py`); here is what is told of it, and how it is ended."""

    files: IFiles
    own: OwnDomains
    kind: XenKind
    relays: Relays
    moves: DomainMoves
    ending: DomainEnding

    async def info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """See `ILiveMigration.migration_info`."""
        record, _ = await self.own.running(self.own.layout(instance.name))
        with naming(instance.name):
            migration.check_sendable(self.kind.lists_writes_by, await self.own.xl.info())
        return migration.told_of(record)

    async def send(self, instance: InstanceSpec, address: str, tls: TlsPair | None) -> None:
        """See `ILiveMigration`. xl knows one way only: the guest runs meanwhile, and stands still at the end."""
        layout = self.own.layout(instance.name)
        _, domain = await self.own.running(layout)
        with naming(instance.name):
            if await self.moves.side(instance.name) is not Side.RUNS:
                raise HypervisorError("it is being migrated already")
            if domain.state == PAUSED:
                raise HypervisorError(
                    "it is paused, so that its guest cannot be asked to get ready; unpause it, or fail it over"
                )
            port = self.kind.params(instance.hvparams).migration_port
            await give_keys(self.files, layout, migration.needed(tls))
            relay = self.relays.connecting(layout, migration.checked_address(address), port)
            await self.moves.begin(layout, Role.SENDING, migration.sending(domain.id, relay))

    async def progress(self, instance_name: str, wait: float) -> MigrationProgress:
        """See `ILiveMigration.migration_progress`; xl does not tell how much it has sent, nor how long the guest stood still."""
        layout = self.own.layout(instance_name)
        move = load_move(self.files, layout)
        if load_domain(self.files, layout) is None:
            raise not_running(instance_name)
        if move is None or move.role is not Role.SENDING:
            return MigrationProgress(MigrationState.CANCELLED, reason="nothing is being sent")
        if not await self.relays.has_ended(move.pid, layout, wait):
            return MigrationProgress(MigrationState.ACTIVE)
        if await self.moves.side(instance_name) is not Side.SENT:
            why = migration.complaint(migration.log_of(self.files, layout))
            return MigrationProgress(MigrationState.FAILED, reason=why)
        took = max(0.0, self.files.stat(layout.log).mtime - move.started)
        return MigrationProgress(MigrationState.COMPLETED, total_time=round(took * 1000))

    async def stay(self, instance_name: str, target_is_gone: bool) -> None:
        """See `ILiveMigration.stay_on_source`: without the program between them, xl lets the domain go on here."""
        layout = self.own.layout(instance_name)
        with naming(instance_name):
            await self._give_up(layout)
            side = await self.moves.side(instance_name)
            if side is Side.SENT and not target_is_gone:
                raise HypervisorError("all of it was sent, it may run elsewhere")
            if side is Side.SENT:
                raise HypervisorError(
                    "all of it was sent, and Xen cannot let it go on here; shut it down, and start it again"
                )
            if side is not Side.RUNS:
                raise not_running(instance_name)
            self.moves.forget(layout)

    async def _give_up(self, layout: DomainLayout) -> None:
        """@raise HypervisorError: xl goes on sending it."""
        moving = self.moves.under_way(layout)
        if moving is None or moving.role is not Role.SENDING:
            return
        await self.relays.end(layout)
        if not await self.relays.has_ended(moving.pid, layout, GIVE_UP_LIMIT):
            raise HypervisorError(f"xl (process {moving.pid}) does not give up sending it")

    async def leave(self, instance_name: str) -> None:
        """See `ILiveMigration.leave_source`."""
        if await self.moves.side(instance_name) not in (None, Side.SENT):
            raise HypervisorError(f"instance {instance_name} runs here, it was not sent")
        await self.ending.end(self.own.layout(instance_name))
