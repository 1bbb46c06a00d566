"""How to reach the console of an instance."""

from typing import Any, ClassVar

from ganeti_tx.errors import OpExecError
from ganeti_tx.locking.levels import Mode
from ganeti_tx.logic.instance.presence import is_running, seen_running
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes.instance import OpInstanceConsole
from ganeti_tx.rpc.calls.instance import InstanceConsole as ConsoleCall


class LUInstanceConsole(InstanceUnit[OpInstanceConsole]):
    """Ask the primary node, which knows sockets and ports."""

    instance_mode: ClassVar[Mode] = Mode.SHARED
    changes_room: ClassVar[bool] = False

    async def check(self) -> None:
        """The node is online."""
        await super().check()
        check_online(self.target.primary, f"connect to the console of instance {self.instance.name}")

    async def execute(self) -> dict[str, Any]:
        """A wire InstanceConsole."""
        if not is_running(await seen_running(self.nodes, self.target)):
            state = "ERROR_down" if self.instance.admin_state is AdminState.UP else f"ADMIN_{self.instance.admin_state}"
            raise OpExecError(f"instance {self.instance.name} is not running (state {state})")
        answer = await self.nodes.call(self.target.primary, ConsoleCall(instance=self.target.spec()))
        return answer
