"""Domains that come from another node while they run: the side of the node on which they will be."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import Side
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, TlsPair
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen import migration
from ganeti_tx.node.hypervisor.xen.domain_files import DomainFiles
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.moves import DomainMoves
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.planning import DomainPlanning
from ganeti_tx.node.hypervisor.xen.record import Role
from ganeti_tx.node.hypervisor.xen.relay import PAUSE, Relays, give_keys
from ganeti_tx.runtime.files import IFiles

#: Seconds until somebody may connect, and until a domain that was sent runs.
LISTEN_LIMIT = 60.0
ARRIVE_LIMIT = 60.0


@frozen
class DomainReceiving:
    """The xls of both nodes do the work (`migration.py`); here is what they are given, and how it is refused."""

    files: IFiles
    clock: IReactorTime
    own: OwnDomains
    kind: XenKind
    planning: DomainPlanning
    written: DomainFiles
    ending: DomainEnding
    relays: Relays
    moves: DomainMoves

    async def accept(
        self,
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        info: Mapping[str, Any],
        address: str,
        tls: TlsPair | None,
    ) -> None:
        """See `ILiveMigration`: what the other node sends becomes a domain here."""
        layout = self.own.layout(instance.name)
        if await self.moves.side(instance.name) is not None:
            raise HypervisorError(f"instance {instance.name} runs already, or waits for its memory")
        await self.ending.end(layout)
        await self.own.check_free(instance.name)
        with naming(instance.name):
            pair = migration.needed(tls)
            guest = await self._guest(instance, disks, info)
            waits = False
            try:
                await self.written.write(layout, guest)
                await give_keys(self.files, layout, pair)
                await self._listen(layout, guest, address)
                waits = True
            finally:
                if not waits:
                    await self.ending.end(layout)

    async def _guest(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], info: Mapping[str, Any]) -> Guest:
        """As it runs elsewhere. @raise HypervisorError: it cannot run here."""
        paths = [disk.path for disk in self.planning.named(instance.name, disks)]
        return await self.planning.plan(migration.taking_over(instance, info, paths), disks)

    async def _listen(self, layout: DomainLayout, guest: Guest, address: str) -> None:
        port = self.kind.params(guest.spec.hvparams).migration_port
        argv = self.relays.listening(layout, migration.checked_address(address), port, migration.RECEIVE)
        await self.moves.begin(layout, Role.INCOMING, argv)
        until = self.clock.seconds() + LISTEN_LIMIT
        while migration.LISTENING not in migration.log_of(self.files, layout):
            if self.clock.seconds() >= until or self.moves.under_way(layout) is None:
                why = migration.complaint(migration.log_of(self.files, layout))
                raise HypervisorError(f"cannot wait for it at {address}, port {port}: {why}")
            await deferLater(self.clock, PAUSE)

    async def take_over(self, instance_name: str) -> None:
        """See `ILiveMigration`; the xls let it run by themselves."""
        until = self.clock.seconds() + ARRIVE_LIMIT
        while (side := await self.moves.side(instance_name)) is Side.INCOMING:
            if self.clock.seconds() >= until:
                raise HypervisorError(f"instance {instance_name} has not come in full")
            await deferLater(self.clock, PAUSE)
        if side is not Side.RUNS:
            raise not_running(instance_name)
        self.moves.forget(self.own.layout(instance_name))

    async def refuse(self, instance_name: str) -> None:
        """See `ILiveMigration`: without the program between them, xl gives up the domain that has not come."""
        layout = self.own.layout(instance_name)
        with naming(instance_name):
            if await self.moves.side(instance_name) is Side.INCOMING:
                await self.relays.end(layout)
            if await self.moves.side(instance_name) not in (None, Side.INCOMING):
                raise HypervisorError("it runs here already")
            await self.ending.end(layout)
