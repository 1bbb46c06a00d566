"""What an export to another cluster needs to know before."""

from collections.abc import Sequence
from typing import Any, ClassVar

from ganeti_tx.locking.levels import Mode
from ganeti_tx.logic.backup.remote.keys import TransferKey
from ganeti_tx.logic.backup.remote.signed_certificate import signed
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.opcodes.backup import OpBackupPrepare
from ganeti_tx.model.opcodes.types import ExportMode
from ganeti_tx.model.remote_moves import DomainSecret, handshake, signed_key_name

KEY = "make a key for the move"


class LUBackupPrepare(InstanceUnit[OpBackupPrepare]):
    """Within the cluster there is nothing to prepare; for another one a key is made by which it knows who sends."""

    instance_mode: ClassVar[Mode] = Mode.SHARED
    changes_room: ClassVar[bool] = False

    _secret: DomainSecret

    @property
    def _remote(self) -> bool:
        return self.op.mode is ExportMode.REMOTE

    async def check(self) -> None:
        """Its node is there, and so is the secret that the clusters share."""
        await super().check()
        check_online(self.target.primary, f"export instance {self.instance.name}")
        if self._remote:
            self._secret = self.context.domain_secret()

    def plan(self) -> Plan:
        """The key alone."""
        instance: Sequence[str] = (f"instance {self.instance.name}",)
        return [PlannedStep(KEY, (self.target.primary.name,), tuple(instance))] if self._remote else []

    async def execute(self) -> dict[str, Any] | None:
        """Gives what the other cluster is shown; nothing within this one."""
        if not self._remote:
            return None
        salts = [(await self.config.generate_secret())[:16] for _ in range(2)]
        key = await TransferKey.new(self, self.target.primary, self.context.now())
        async with self.step(KEY, key.undo):
            certificate = await key.create()
        return {
            "handshake": handshake(self._secret, salts[0]),
            "x509_key_name": signed_key_name(self._secret, key.name, salts[1]),
            "x509_ca": signed(self._secret, certificate, salts[1]),
        }
