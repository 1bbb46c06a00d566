"""What a node that is no master candidate any more must not keep: the configuration and the job queue."""

from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.node import NodeDemoteFromMc
from ganeti_tx.rpc.calls.queue import JobqueuePurge
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds for a node to remove its copies; others wait for the locks that are held meanwhile.
TIMEOUT = 60.0
TITLE = "remove what only master candidates keep"


def taking_copies(name: str) -> PlannedStep:
    """The step of `take_copies`."""
    return PlannedStep(TITLE, (name,), ("copies of the configuration and of jobs",))


async def take_copies(parts: Parts, node: Node) -> None:
    """Have the node remove its copies; one that does not is warned of. An offline node is left alone until it is back."""
    if node.offline:
        return
    async with parts.step(TITLE):
        await _remove_copies(parts, node)


async def _remove_copies(parts: Parts, node: Node) -> None:
    for call in (NodeDemoteFromMc(), JobqueuePurge()):
        try:
            await parts.nodes.call(node, call, TIMEOUT)
        except RpcError as error:
            parts.warn(f"node {node.name} may keep copies of the configuration and of jobs: {error}")
            return
