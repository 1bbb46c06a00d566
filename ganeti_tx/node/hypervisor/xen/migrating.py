"""Domains that go to another node while they run, and come from there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define
from twisted.internet.task import deferLater
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.ip_family import is_address
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, ILiveMigration
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen import migration
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.hypervisor import DIRECTORY_MODE, XenHypervisor
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.listed import PAUSED
from ganeti_tx.node.hypervisor.xen.own import COMING, GONE, lives
from ganeti_tx.node.hypervisor.xen.record import MoveRecord, Role, load_domain, load_move, save
from ganeti_tx.node.hypervisor.xen.relay import PAUSE, Relays

#: Seconds until somebody may connect, until xl has given up what it was made to, and until a domain that was sent runs.
LISTEN_LIMIT = 30.0
GIVE_UP_LIMIT = 120.0
ARRIVE_LIMIT = 60.0


@implementer(ILiveMigration)
@define
class MigratingXen(XenHypervisor):
    """The xls of both nodes do the work (`migration.py`); here is what is told of it, and how it is ended."""

    relays: Relays
    now: Callable[[], float]

    async def migration_info(self, instance: InstanceSpec) -> Mapping[str, Any]:
        """As ILiveMigration says."""
        layout = self.own.layout(instance.name)
        record = load_domain(self.files, layout)
        if record is None or await self.own.living(layout) is None:
            raise not_running(instance.name)
        return migration.told_of(record)

    async def accept(
        self, instance: InstanceSpec, disks: Sequence[AttachedDisk], info: Mapping[str, Any], address: str
    ) -> None:
        """As ILiveMigration says: what the other node sends becomes a domain here."""
        layout = self.own.layout(instance.name)
        if await self.migration_side(instance.name) is not None:
            raise HypervisorError(f"instance {instance.name} runs already, or waits for its memory")
        await self.ending.end(layout)
        await self.own.check_free(instance.name)
        with naming(instance.name):
            named = self._named(instance.name, disks)
            guest = await self._planned(migration.taking_over(instance, info, [disk.path for disk in named]), disks)
            waits = False
            try:
                await self._write_down(layout, guest)
                await self._listen(layout, guest, address)
                waits = True
            finally:
                if not waits:
                    await self.ending.end(layout)

    async def _listen(self, layout: DomainLayout, guest: Guest, address: str) -> None:
        port = self.kind.params(guest.spec.hvparams).migration_port
        argv = self.relays.listening(layout, checked_address(address), port, migration.RECEIVE)
        await self._begin(layout, Role.INCOMING, argv)
        until = self.clock.seconds() + LISTEN_LIMIT
        while migration.LISTENING not in migration.log_of(self.files, layout):
            if self.clock.seconds() >= until or self._moving(layout) is None:
                why = migration.complaint(migration.log_of(self.files, layout))
                raise HypervisorError(f"cannot wait for it at {address}, port {port}: {why}")
            await deferLater(self.clock, PAUSE)

    async def _begin(self, layout: DomainLayout, role: Role, argv: Sequence[str]) -> None:
        """Start a program that goes on by itself."""
        self.files.mkdir(layout.log.parent, DIRECTORY_MODE)
        layout.check_own(self.files)
        for path in (layout.log, layout.relay):
            if self.files.exists(path):
                self.files.remove(path)
        try:
            pid = self.runner.run_detached(argv, log=layout.log)
        except OSError as error:
            raise HypervisorError(f"cannot run {argv[0]}: {error}")
        await save(self.files, layout.move, MoveRecord(role=role, pid=pid, started=self.now()))

    def _moving(self, layout: DomainLayout) -> MoveRecord | None:
        """The migration whose program runs."""
        move = load_move(self.files, layout)
        return move if move is not None and self.relays.is_alive(move.pid, layout) else None

    async def send(self, instance: InstanceSpec, address: str, live: bool) -> None:
        """As ILiveMigration says. xl knows one way only: the guest runs meanwhile, and stands still at the end."""
        layout = self.own.layout(instance.name)
        domain = await self.own.living(layout)
        if domain is None:
            raise not_running(instance.name)
        with naming(instance.name):
            if await self.migration_side(instance.name) is not Side.RUNS:
                raise HypervisorError("it is being migrated already")
            if domain.state == PAUSED:
                raise HypervisorError(
                    "it is paused, so that its guest cannot be asked to get ready; unpause it, or fail it over"
                )
            port = self.kind.params(instance.hvparams).migration_port
            relay = self.relays.connecting(layout, checked_address(address), port)
            await self._begin(layout, Role.SENDING, migration.sending(domain.id, relay))

    async def migration_progress(self, instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """As ILiveMigration says; xl does not tell how much it has sent, nor how long the guest stood still."""
        layout = self.own.layout(instance_name)
        move = load_move(self.files, layout)
        if load_domain(self.files, layout) is None:
            raise not_running(instance_name)
        if move is None or move.role is not Role.SENDING:
            return MigrationProgress(MigrationState.CANCELLED, reason="nothing is being sent")
        if not await self.relays.has_ended(move.pid, layout, wait):
            return MigrationProgress(MigrationState.ACTIVE)
        if await self.migration_side(instance_name) is not Side.SENT:
            why = migration.complaint(migration.log_of(self.files, layout))
            return MigrationProgress(MigrationState.FAILED, reason=why)
        took = max(0.0, self.files.stat(layout.log).mtime - move.started)
        return MigrationProgress(MigrationState.COMPLETED, total_time=round(took * 1000))

    async def migration_side(self, instance_name: str) -> Side | None:
        """As ILiveMigration says."""
        layout = self.own.layout(instance_name)
        domain, move = await self.own.look(layout), load_move(self.files, layout)
        moving = self._moving(layout)
        if domain is None:
            return self._side_without_domain(layout, move, moving)
        if domain.name.endswith(COMING):
            return Side.INCOMING
        if moving is not None and moving.role is Role.SENDING:
            return Side.SENDING
        if domain.name.endswith(GONE) or (move is not None and domain.reason is not None and lives(domain)):
            return Side.SENT
        return Side.RUNS if domain.reason is None else None

    def _side_without_domain(
        self, layout: DomainLayout, move: MoveRecord | None, moving: MoveRecord | None
    ) -> Side | None:
        """xl destroys what it has sent, so that only its own word is left; while one waits, there is no domain yet."""
        if move is None:
            return None
        if move.role is Role.INCOMING:
            return Side.INCOMING if moving is not None else None
        return Side.SENT if migration.DONE in migration.log_of(self.files, layout) else None

    async def stay_on_source(self, instance_name: str, target_is_gone: bool) -> None:
        """As ILiveMigration says: without the program between them, xl lets the domain go on here."""
        layout = self.own.layout(instance_name)
        with naming(instance_name):
            if (moving := self._moving(layout)) is not None and moving.role is Role.SENDING:
                await self.relays.end(layout)
                if not await self.relays.has_ended(moving.pid, layout, GIVE_UP_LIMIT):
                    raise HypervisorError(f"xl (process {moving.pid}) does not give up sending it")
            side = await self.migration_side(instance_name)
            if side is Side.SENT and not target_is_gone:
                raise HypervisorError("all of it was sent, it may run elsewhere")
            if side is Side.SENT:
                raise HypervisorError(
                    "all of it was sent, and Xen cannot let it go on here; shut it down, and start it again"
                )
            if side is not Side.RUNS:
                raise not_running(instance_name)
            self._forget_move(layout)

    async def leave_source(self, instance_name: str) -> None:
        """As ILiveMigration says."""
        if await self.migration_side(instance_name) not in (None, Side.SENT):
            raise HypervisorError(f"instance {instance_name} runs here, it was not sent")
        await self.ending.end(self.own.layout(instance_name))

    async def take_over(self, instance_name: str) -> None:
        """As ILiveMigration says; the xls let it run by themselves."""
        layout = self.own.layout(instance_name)
        until = self.clock.seconds() + ARRIVE_LIMIT
        while (side := await self.migration_side(instance_name)) is Side.INCOMING:
            if self.clock.seconds() >= until:
                raise HypervisorError(f"instance {instance_name} has not come in full")
            await deferLater(self.clock, PAUSE)
        if side is not Side.RUNS:
            raise not_running(instance_name)
        self._forget_move(layout)

    async def refuse(self, instance_name: str) -> None:
        """As ILiveMigration says: without the program between them, xl gives up the domain that has not come."""
        layout = self.own.layout(instance_name)
        with naming(instance_name):
            if await self.migration_side(instance_name) is Side.INCOMING:
                await self.relays.end(layout)
            if await self.migration_side(instance_name) not in (None, Side.INCOMING):
                raise HypervisorError("it runs here already")
            await self.ending.end(layout)

    def _forget_move(self, layout: DomainLayout) -> None:
        """A daemon that dies meanwhile finds the migration as it was, or none."""
        for path in (layout.move, layout.relay):
            if self.files.exists(path):
                self.files.remove(path)


def checked_address(address: str) -> str:
    """The same. @raise HypervisorError: it is no IP address."""
    if not is_address(address):
        raise HypervisorError(f"not an IP address: {address!r}")
    return address
