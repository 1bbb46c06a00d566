"""A job that does nothing but talk or fail, to test the queue."""

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes.test import OpTestJqueue


class LUTestJqueue(LogicalUnit[OpTestJqueue]):
    """Say the messages in their order, then fail or not, as asked."""

    async def check(self) -> None:
        """No notices: nobody can be told at a step and let the job go on."""
        asked = [name for name in ("notify_waitlock", "notify_exec") if getattr(self.op, name)]
        if asked:
            raise OpPrereqError(
                f"notices are not available in this version; leave out {' and '.join(asked)}", ECode.INVAL
            )

    async def execute(self) -> bool:
        """True, unless it shall fail."""
        for message in self.op.log_messages:
            self.info(message)
        if self.op.fail:
            raise OpExecError("Opcode failure was requested")
        return True
