"""What units have that are about one network, and those about it and a node group."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.network import OpNetworkConnect, OpNetworkDisconnect
from ganeti_tx.model.params.nic import fill_nicparams


def on_network(uuid: str, mode: Mode) -> LockRequest:
    """The lock of one network."""
    return LockRequest(Lock(Level.NETWORK, uuid), mode)


Connection = TypeVar("Connection", OpNetworkConnect, OpNetworkDisconnect)


class ConnectionUnit(LogicalUnit[Connection]):
    """Finds the network and the group, and locks them: the group, which changes, for itself alone."""

    network: Network
    group: NodeGroup

    async def expand_names(self) -> None:
        """Both."""
        self.network = await self.config.network(self.op.network_name)
        self.group = await self.config.group(self.op.group_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Both."""
        if level is Level.NODEGROUP:
            return [LockRequest(Lock(level, self.group.uuid), Mode.EXCLUSIVE)]
        return [on_network(self.network.uuid, Mode.SHARED)] if level is Level.NETWORK else ()

    async def check(self) -> None:
        """Read them again."""
        self.network = await self.config.network(self.network.uuid)
        self.group = await self.config.group(self.group.uuid)

    @property
    def connected(self) -> bool:
        """Whether the group has the network."""
        return self.network.uuid in self.group.networks

    async def object_nodes(self) -> Sequence[Node]:
        """The nodes of the group."""
        return [node for node in await self.config.nodes() if node.group == self.group.uuid]

    async def connection_values(self) -> Mapping[str, object]:
        """What hooks are told of the connection that there is; without one, of the group alone."""
        values: dict[str, object] = {"GROUP_NAME": self.group.name}
        if not self.connected:
            return values
        params = fill_nicparams(await self.config.cluster(), self.group.networks[self.network.uuid])
        return values | {f"GROUP_NETWORK_{name.upper()}": params[name] for name in ("mode", "link", "vlan")}
