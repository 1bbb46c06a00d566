"""How to reach the console of an instance."""

from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.locking.levels import Mode
from ganeti_tx.logic.instance.presence import is_running, seen_running
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.console import console_of
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes.instance import OpInstanceConsole
from ganeti_tx.rpc.calls.instance import InstanceConsole as ConsoleCall
from ganeti_tx.rpc.interfaces import PROMPT


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
        if not is_running(await seen_running(self.nodes, self.target, PROMPT)):
            state = "ERROR_down" if self.instance.admin_state is AdminState.UP else f"ADMIN_{self.instance.admin_state}"
            raise OpExecError(f"instance {self.instance.name} is not running (state {state})")
        node = self.target.primary
        spec = replace(self.target.spec(), primary_node=node.name)  # people are told of it
        told = await self.nodes.call(node, ConsoleCall(instance=spec), PROMPT)
        found: dict[str, Any] = msgspec.to_builtins(console_of(spec, node, told))
        return found
