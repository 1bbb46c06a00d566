"""Live migration to a node that has no copy: its primary node gets another secondary one first, to which it then goes."""

from attrs import define

from ganeti_tx.logic.disks.new_secondary import NewSecondary
from ganeti_tx.logic.instance.moves.migrating import Migrating
from ganeti_tx.logic.plan import Plan


@define
class MigratingToThird:
    """First the copies, which stay there whatever becomes of the migration; then that."""

    copying: NewSecondary
    migrating: Migrating

    def plan(self) -> Plan:
        """Both."""
        return [*self.copying.plan(), *self.migrating.plan()]

    async def run(self) -> None:
        """Do both. Until all memory has arrived the instance runs where it was if something fails."""
        await self.copying.run()
        await self.migrating.steps.settle()
        await self.migrating.run()
