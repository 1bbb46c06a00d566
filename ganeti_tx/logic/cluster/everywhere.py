"""Bringing the keys and simple configuration to all nodes, so that it is known that each has them."""

from collections.abc import Iterator, Mapping, Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_files import ALIKE
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.rpc.interfaces import Outcome

#: A node that is slow is looked at so many times, so many seconds apart; it is sent everything again each time.
LOOKS = 10
BETWEEN = 2.0
AFTERWARDS = (
    "nothing is cut off, as the former keys count as well as those that come; mend that, or mark the node offline, and "
    "say the command again"
)


async def bring_to_all(parts: Parts, nodes: Sequence[Node], master: Node) -> None:
    """Return when they have what the master has. @raise OpExecError: some do not get it; it says which, and why."""
    lacking: dict[str, str] = {}
    for look in range(LOOKS):
        if look:
            await parts.pause(BETWEEN)
        await parts.config.redistribute()
        await parts.config.when_distributed()
        lacking = dict(lacks(nodes, master, await parts.nodes.call_many(nodes, ClusterCopies())))
        if not lacking:
            return
    causes = dict(await parts.config.undistributed())
    told = "; ".join(f"node {name} {causes.get(name, why)}" for name, why in sorted(lacking.items()))
    raise OpExecError(f"not all nodes have the keys that the master has: {told}; {AFTERWARDS}")


def lacks(nodes: Sequence[Node], master: Node, told: Mapping[str, Outcome[CopiesState]]) -> Iterator[tuple[str, str]]:
    """The nodes that lack something, and what."""
    own = told[master.name]
    if own.error is not None:
        yield master.name, str(own.error)
        return
    for node in nodes:
        if (error := told[node.name].error) is not None:
            yield node.name, str(error)
            continue
        state, wanted = told[node.name].get(), own.get()
        for file in ALIKE:
            if not file.is_for(candidate=node.master_candidate) or file.path not in (wanted.files or {}):
                continue
            if (state.files or {}).get(file.path) != (wanted.files or {})[file.path]:
                yield node.name, f"has not the master's {file.path}"
        if state.ssconf != wanted.ssconf:
            yield node.name, "has not the master's simple configuration"
