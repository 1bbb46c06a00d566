"""What nodes keep of an instance that runs on another one, which has it, too, since it went there."""

from collections.abc import Iterable

from ganeti_tx.logic.instance.moves.kept_state import keepers
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.kept import KeptNames
from ganeti_tx.rpc.interfaces import RpcError


async def left_behind(parts: Parts, view: InstanceView, home: Node, nodes: Iterable[Node]) -> list[Node]:
    """Those of the other nodes on which nothing of it is needed any more.

    What the node where it runs does not have may be nowhere else: that stays, and is told of.
    """
    name = view.instance.name
    found = []
    for node in await keepers(parts, view, [each for each in nodes if each.uuid != home.uuid]):
        try:
            missing = await kinds(parts, view, node) - await kinds(parts, view, home)
        except RpcError as error:
            why = str(error)
        else:
            why = f"node {home.name}, where the instance runs, has no {' and no '.join(sorted(missing))}"
            if not missing:
                found.append(node)
                continue
        parts.warn(f"what node {node.name} keeps of the firmware and the TPM of instance {name} stays there: {why}")
    return found


async def kinds(parts: Parts, view: InstanceView, node: Node) -> set[str]:
    """What a node has: a TPM has several files, in a directory of its own. @raise RpcError: it does not tell."""
    names = await parts.nodes.call(node, KeptNames(instance=view.spec()))
    return {name.partition("/")[0] for name in names}
