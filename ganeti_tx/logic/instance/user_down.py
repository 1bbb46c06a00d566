"""An instance that its user has shut down is cleared away before its machine is ended for something else.

Nothing but what is left of the machine tells of it, so that it is recorded first, as the watcher does; from then on it is any
other instance that is down. Otherwise it would be taken for one that has crashed, and be started.
"""

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.logic.disks.on_nodes import disk_nodes, shutdown_disks
from ganeti_tx.logic.instance.presence import SHUT_DOWN_BY_USER, own_machine, state_as_before, stop
from ganeti_tx.logic.instance.stopped import CLEAR
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.steps import Steps
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.instance import InstanceInfo, RunningInstance
from ganeti_tx.rpc.interfaces import PROMPT, INodeRpc, RpcError

MARK, DISKS = "mark the instance as shut down by its user", "shut down its disks"


async def seen_if_told(nodes: INodeRpc, target: InstanceView) -> RunningInstance | None:
    """What the hypervisor has of the instance; nothing, too, if its node does not tell: who leaves a dead node cannot ask it."""
    if target.primary.offline:
        return None
    try:
        seen = await nodes.call(target.primary, InstanceInfo.of(target.instance), timeout=PROMPT)
        return own_machine(seen, target.instance)
    except RpcError:
        return None


@frozen
class UserDown:
    """The first steps of a unit, which are none unless they are needed.

    @ivar before: the instance as it is configured now. @ivar needed: whether it is to be up, and its user has shut it down.
    """

    parts: Parts
    steps: Steps
    before: InstanceView
    needed: bool

    @classmethod
    def of(cls, parts: Parts, steps: Steps, target: InstanceView, seen: RunningInstance | None) -> "UserDown":
        """@param seen: what its hypervisor has of it."""
        is_up = target.instance.admin_state is AdminState.UP
        return cls(parts, steps, target, is_up and seen is not None and seen.state == SHUT_DOWN_BY_USER)

    @property
    def after(self) -> InstanceView:
        """The instance as the rest of the unit finds it."""
        if not self.needed:
            return self.before
        down, user = AdminState.DOWN, AdminStateSource.USER
        instance = replace(self.before.instance, admin_state=down, admin_state_source=user, disks_active=False)
        return replace(self.before, instance=instance)

    def plan(self) -> Plan:
        """The mark, then what is left of the machine, and its disks."""
        if not self.needed:
            return []
        instance = (f"instance {self.before.instance.name}",)
        return [
            PlannedStep(MARK, (), instance),
            PlannedStep(CLEAR, (self.before.primary.name,), instance),
            PlannedStep(DISKS, disk_nodes(self.before), instance),
        ]

    async def clear(self) -> None:
        """It stays so, whatever becomes of the rest. @raise OpExecError: something of its machine may be left."""
        if not self.needed:
            return
        parts, instance, after = self.parts, self.before.instance, self.after.instance
        parts.info(f"Clearing away instance {instance.name}, which its user has shut down")
        async with parts.step(MARK, state_as_before(instance)):
            await parts.config.set_instance_state(instance.uuid, after.admin_state, after.admin_state_source, False)
        await self.steps.settle()  # it is so, also if nobody hears that what is left of the machine has ended
        async with parts.step(CLEAR):
            await stop(parts.nodes, self.before, 0, parts.warn, force=True)
        async with parts.step(DISKS):
            await shutdown_disks(parts.nodes, self.before, parts.warn)
