"""What nodes are asked of many disks: side by side, and each in few calls for all that it has."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, DeferredList

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.node import Node
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.interfaces import PROMPT, INodeRpc, RpcError

#: Disks of one call, which may be some hundred bytes each.
AT_A_TIME = 200
#: Seconds that a node has for each, besides those that it has for any answer.
SECONDS_EACH = 1.0


@frozen
class Side:
    """A disk as a node has it: which of the node's answers is about it, and those about the disks that it is made of."""

    node: str
    number: int
    children: Sequence["Side"]


@frozen
class DiskStates:
    """What the nodes answered, by their uuids; nothing of those that did not."""

    _states: Mapping[str, Sequence[BlockDevStatus | None]] = field(factory=dict)

    def of(self, side: Side) -> BlockDevStatus | None:
        """How a disk is there; None when it is not, or the node cannot tell."""
        states = self._states.get(side.node)
        return None if states is None else states[side.number]


@define
class DiskQuestions:
    """The disks that nodes will be asked for."""

    _by_node: dict[str, tuple[Node, list[DiskSpec]]] = field(factory=dict)

    def add(self, node: Node, disk: DiskSpec) -> Side:
        """One more, with all that it is made of."""
        _, disks = self._by_node.setdefault(node.uuid, (node, []))
        number = len(disks)
        disks.append(disk)
        return Side(node.uuid, number, [self.add(node, child) for child in disk.children])

    async def ask(self, nodes: INodeRpc, silent: Collection[str]) -> DiskStates:
        """Ask them. @param silent: uuids of nodes that are known not to answer"""
        asked = {
            uuid: Deferred.fromCoroutine(_states(nodes, node, disks))
            for uuid, (node, disks) in self._by_node.items()
            if uuid not in silent
        }
        found: list[tuple[bool, Any]] = await DeferredList(asked.values(), consumeErrors=True)
        for success, failure in found:
            if not success:
                failure.raiseException()  # the job is stopped; all of them are over
        return DiskStates({uuid: states for uuid, (_, states) in zip(asked, found, strict=True)})


async def _states(nodes: INodeRpc, node: Node, disks: Sequence[DiskSpec]) -> Sequence[BlockDevStatus | None]:
    """How the disks are on a node. One that does not answer is not asked for more of them."""
    found: list[BlockDevStatus | None] = []
    for start in range(0, len(disks), AT_A_TIME):
        some = list(disks[start : start + AT_A_TIME])
        try:
            states = await nodes.call(node, BlockdevStates(disks=some), PROMPT + SECONDS_EACH * len(some))
        except RpcError:
            break
        found += [state.status for state in states]
    return found + [None] * (len(disks) - len(found))
