"""What an export to another place needs to know before."""

from typing import ClassVar

from ganeti_tx.locking.levels import Mode
from ganeti_tx.logic.backup.export_checks import refuse_remote
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.opcodes.backup import OpBackupPrepare


class LUBackupPrepare(InstanceUnit[OpBackupPrepare]):
    """Within the cluster there is nothing to prepare."""

    instance_mode: ClassVar[Mode] = Mode.SHARED
    changes_room: ClassVar[bool] = False

    async def expand_names(self) -> None:
        """Which instance."""
        refuse_remote(self.op)
        await super().expand_names()

    async def check(self) -> None:
        """Its node is there."""
        await super().check()
        check_online(self.target.primary, f"export instance {self.instance.name}")

    async def execute(self) -> None:
        """Gives nothing."""
