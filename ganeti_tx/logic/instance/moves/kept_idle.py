"""What a node keeps of a running instance that its machine does not use, such as the TPM of one that shall have none for now.

QEMU sends only what the machine has; this goes before it as files, and its old node forgets nothing that has not arrived.
"""

from collections.abc import Sequence

from attrs import define, field

from ganeti_tx.logic.instance.moves.kept_state import forget, forgetting, may_be_kept
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept
from ganeti_tx.rpc.interfaces import RpcError


@define
class IdleKept:
    """Of one instance that migrates while it runs."""

    parts: Parts
    move: Move
    #: Whether something may be on its old node only.
    _stays: bool = field(default=False, init=False)

    def undos(self) -> Sequence[Undo]:
        """What is done when it does not migrate, and nothing waits there any more."""
        return [forgetting(self.move.after, self.move.target)] if may_be_kept(self.move.before) else []

    async def carry(self) -> None:
        """Before its new node makes a machine for it; what cannot be brought there stays, which is told."""
        if not may_be_kept(self.move.before):
            return
        move = self.move
        try:
            kept = await self.parts.nodes.call(move.source, InstanceKept(instance=move.before.spec(), idle=True))
            if kept:
                await self.parts.nodes.call(move.target, InstanceKeep(instance=move.after.spec(), files=kept))
        except RpcError as error:
            self._stays = True
            self.parts.warn(
                f"what node {move.source.name} keeps of the firmware and the TPM of instance {move.name} beside what it uses"
                f" stays there: {error}"
            )

    def leavings(self) -> Sequence[Undo]:
        """What is done when it runs on its new node."""
        return [forgetting(self.move.before, self.move.source)] if self._leaves else []

    async def leave(self) -> None:
        """Do that."""
        if self._leaves:
            await forget(self.parts, self.move.before, self.move.source)

    @property
    def _leaves(self) -> bool:
        return may_be_kept(self.move.before) and not self._stays
