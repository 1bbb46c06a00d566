"""Telling an instance that runs of what has changed of it."""

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.instance.presence import is_running, seen_running
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.model.instance_communication import communication_nic
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.metadata import InstanceMetadataModify
from ganeti_tx.rpc.interfaces import RpcError

TELL = "tell the metadata daemon of its node, if it runs"


def is_told(*views: InstanceView) -> bool:
    """Whether an instance can be told, or could be before; views of it."""
    return any(communication_nic(view.spec()) is not None for view in views)


def telling(view: InstanceView) -> PlannedStep:
    """The step."""
    return PlannedStep(TELL, (view.primary.name,), (f"instance {view.instance.name}",))


async def tell(unit: Parts, view: InstanceView) -> None:
    """It is so already: what the guest cannot be told now it is told when it is started again."""
    async with unit.step(TELL):
        try:
            if is_running(await seen_running(unit.nodes, view)):
                await unit.nodes.call(view.primary, InstanceMetadataModify(instance=view.spec()))
        except (OpPrereqError, RpcError) as error:
            unit.warn(f"instance {view.instance.name} is told of the change when it is started again: {error}")
