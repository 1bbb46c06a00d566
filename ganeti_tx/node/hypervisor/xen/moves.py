"""Migrations on this node: the program that is at one, and on which side of it a domain is."""

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.migration import Side
from ganeti_tx.node.hypervisor.instance_record import save
from ganeti_tx.node.hypervisor.xen.layout import DIRECTORY_MODE, DomainLayout
from ganeti_tx.node.hypervisor.xen.migration import DONE, log_of
from ganeti_tx.node.hypervisor.xen.own import COMING, GONE, OwnDomains, lives
from ganeti_tx.node.hypervisor.xen.record import MoveRecord, Role, load_move
from ganeti_tx.node.hypervisor.xen.relay import Relays
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner


@frozen
class DomainMoves:
    """All is found again from files, processes and xl's list, so the daemon may be restarted at any time."""

    files: IFiles
    runner: IProcessRunner
    own: OwnDomains
    relays: Relays
    now: Callable[[], float]

    async def begin(self, layout: DomainLayout, role: Role, argv: Sequence[str]) -> None:
        """Start a program that goes on by itself. @raise HypervisorError: it cannot be run, or not be remembered."""
        self.files.mkdir(layout.log.parent, DIRECTORY_MODE)
        layout.check_own(self.files)
        self._remove(layout.log, layout.relay)
        try:
            pid = self.runner.run_detached(argv, log=layout.log)
        except OSError as error:
            raise HypervisorError(f"cannot run {argv[0]}: {error}")
        await save(self.files, layout.move, MoveRecord(role=role, pid=pid, started=self.now()))

    def under_way(self, layout: DomainLayout) -> MoveRecord | None:
        """The migration whose program runs."""
        move = load_move(self.files, layout)
        return move if move is not None and self.relays.is_alive(move.pid, layout) else None

    def forget(self, layout: DomainLayout) -> None:
        """A daemon that dies meanwhile finds the migration as it was, or none."""
        self._remove(*layout.of_move)

    def _remove(self, *paths: Path) -> None:
        for path in paths:
            if self.files.exists(path):
                self.files.remove(path)

    async def side(self, instance_name: str) -> Side | None:
        """See `ILiveMigration.migration_side`."""
        layout = self.own.layout(instance_name)
        domain, move = await self.own.look(layout), load_move(self.files, layout)
        moving = self.under_way(layout)
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
        return Side.SENT if DONE in log_of(self.files, layout) else None
