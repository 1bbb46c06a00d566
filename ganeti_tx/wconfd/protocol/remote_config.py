"""IConfig over the WConfD protocol."""

from collections.abc import Mapping, Sequence

import attrs
from zope.interface import implementer

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.wconfd.protocol.link import Link
from ganeti_tx.wconfd.protocol.methods import (
    ADD_DISK,
    ADD_GROUP,
    ADD_INSTANCE,
    ADD_NETWORK,
    ADD_NODE,
    ALLOCATE_MINORS,
    ALLOCATE_PORT,
    CHANGE_NODES,
    CHANGE_TAGS,
    DROP_RESERVATIONS,
    FLUSH_CONFIG,
    GENERATE_IP,
    GENERATE_MAC,
    GENERATE_SECRET,
    GENERATE_UUID,
    GET_CLUSTER,
    GET_FILTERS,
    GET_GROUP,
    GET_GROUPS,
    GET_INSTANCE,
    GET_INSTANCE_DISKS,
    GET_INSTANCE_LIST,
    GET_INSTANCE_VIEW,
    GET_INSTANCE_VIEWS,
    GET_INSTANCES,
    GET_NETWORK,
    GET_NETWORKS,
    GET_NODE,
    GET_NODE_INSTANCES,
    GET_NODES,
    GET_TAGS,
    PUT_FILTER,
    REDISTRIBUTE,
    REMOVE_DISK,
    REMOVE_FILTER,
    REMOVE_GROUP,
    REMOVE_INSTANCE,
    REMOVE_NETWORK,
    REMOVE_NODE,
    RESERVE_IP,
    RESERVE_MAC,
    SET_INSTANCE_STATE,
    UNDISTRIBUTED,
    UPDATE_CLUSTER,
    UPDATE_DISK,
    UPDATE_GROUP,
    UPDATE_INSTANCE,
    UPDATE_NETWORK,
    UPDATE_NODE,
    VERIFY_CONFIG,
)


@implementer(IConfig)
@attrs.define(eq=False)
class RemoteConfig:
    """One owner's configuration: every call is a request."""

    _link: Link
    _owner: Owner
    _may_have_reserved: bool = False

    async def cluster(self) -> Cluster:
        """See IConfig."""
        return await self._link.ask(GET_CLUSTER, self._owner)

    async def node(self, identifier: str) -> Node:
        """See IConfig."""
        return await self._link.ask(GET_NODE, self._owner, identifier)

    async def nodes(self, identifiers: Sequence[str] | None = None) -> list[Node]:
        """See IConfig."""
        return await self._link.ask(GET_NODES, self._owner, identifiers)

    async def group(self, identifier: str) -> NodeGroup:
        """See IConfig."""
        return await self._link.ask(GET_GROUP, self._owner, identifier)

    async def groups(self, identifiers: Sequence[str] | None = None) -> list[NodeGroup]:
        """See IConfig."""
        return await self._link.ask(GET_GROUPS, self._owner, identifiers)

    async def instance(self, identifier: str) -> Instance:
        """See IConfig."""
        return await self._link.ask(GET_INSTANCE, self._owner, identifier)

    async def instances(self, identifiers: Sequence[str] | None = None) -> list[Instance]:
        """See IConfig."""
        return await self._link.ask(GET_INSTANCES, self._owner, identifiers)

    async def instance_names(self) -> list[str]:
        """See IConfig."""
        return await self._link.ask(GET_INSTANCE_LIST, self._owner)

    async def instance_view(self, identifier: str) -> InstanceView:
        """See IConfig."""
        return await self._link.ask(GET_INSTANCE_VIEW, self._owner, identifier)

    async def instance_views(self, identifiers: Sequence[str] | None = None) -> InstanceViews:
        """See IConfig."""
        return await self._link.ask(GET_INSTANCE_VIEWS, self._owner, identifiers)

    async def instances_of_node(self, identifier: str) -> tuple[list[Instance], list[Instance]]:
        """See IConfig."""
        return await self._link.ask(GET_NODE_INSTANCES, self._owner, identifier)

    async def disks(self, instance: str) -> list[Disk]:
        """See IConfig."""
        return await self._link.ask(GET_INSTANCE_DISKS, self._owner, instance)

    async def network(self, identifier: str) -> Network:
        """See IConfig."""
        return await self._link.ask(GET_NETWORK, self._owner, identifier)

    async def networks(self, identifiers: Sequence[str] | None = None) -> list[Network]:
        """See IConfig."""
        return await self._link.ask(GET_NETWORKS, self._owner, identifiers)

    async def filters(self) -> list[FilterRule]:
        """See IConfig."""
        return await self._link.ask(GET_FILTERS, self._owner)

    async def tags(self, kind: TagKind, name: str | None) -> list[str]:
        """See IConfig."""
        return await self._link.ask(GET_TAGS, self._owner, kind, name)

    async def verify(self) -> list[str]:
        """See IConfig."""
        return await self._link.ask(VERIFY_CONFIG, self._owner)

    async def add_instance(self, instance: Instance, disks: Sequence[Disk]) -> None:
        """See IConfig."""
        await self._link.ask(ADD_INSTANCE, self._owner, instance, disks)

    async def update_instance(self, instance: Instance) -> Instance:
        """See IConfig."""
        return await self._link.ask(UPDATE_INSTANCE, self._owner, instance)

    async def set_instance_state(
        self, uuid: str, admin_state: AdminState, source: AdminStateSource, disks_active: bool
    ) -> Instance:
        """See IConfig."""
        return await self._link.ask(SET_INSTANCE_STATE, self._owner, uuid, admin_state, source, disks_active)

    async def remove_instance(self, uuid: str) -> None:
        """See IConfig."""
        await self._link.ask(REMOVE_INSTANCE, self._owner, uuid)

    async def update_disk(self, disk: Disk) -> Disk:
        """See IConfig."""
        return await self._link.ask(UPDATE_DISK, self._owner, disk)

    async def add_disk(self, instance: str, disk: Disk, index: int | None = None) -> None:
        """See IConfig."""
        await self._link.ask(ADD_DISK, self._owner, instance, disk, index)

    async def remove_disk(self, uuid: str) -> None:
        """See IConfig."""
        await self._link.ask(REMOVE_DISK, self._owner, uuid)

    async def add_node(self, node: Node, certificate_digest: str | None, server_digest: str | None) -> None:
        """See IConfig."""
        await self._link.ask(ADD_NODE, self._owner, node, certificate_digest, server_digest)

    async def update_node(self, node: Node) -> Node:
        """See IConfig."""
        return await self._link.ask(UPDATE_NODE, self._owner, node)

    async def change_nodes(self, nodes: Sequence[Node], digests: Mapping[str, str]) -> None:
        """See IConfig."""
        await self._link.ask(CHANGE_NODES, self._owner, list(nodes), dict(digests))

    async def remove_node(self, uuid: str) -> None:
        """See IConfig."""
        await self._link.ask(REMOVE_NODE, self._owner, uuid)

    async def add_group(self, group: NodeGroup) -> None:
        """See IConfig."""
        await self._link.ask(ADD_GROUP, self._owner, group)

    async def update_group(self, group: NodeGroup) -> NodeGroup:
        """See IConfig."""
        return await self._link.ask(UPDATE_GROUP, self._owner, group)

    async def remove_group(self, uuid: str) -> None:
        """See IConfig."""
        await self._link.ask(REMOVE_GROUP, self._owner, uuid)

    async def add_network(self, network: Network) -> None:
        """See IConfig."""
        await self._link.ask(ADD_NETWORK, self._owner, network)

    async def update_network(self, network: Network) -> Network:
        """See IConfig."""
        return await self._link.ask(UPDATE_NETWORK, self._owner, network)

    async def remove_network(self, uuid: str) -> None:
        """See IConfig."""
        await self._link.ask(REMOVE_NETWORK, self._owner, uuid)

    async def put_filter(self, rule: FilterRule) -> None:
        """See IConfig."""
        await self._link.ask(PUT_FILTER, self._owner, rule)

    async def remove_filter(self, uuid: str) -> None:
        """See IConfig."""
        await self._link.ask(REMOVE_FILTER, self._owner, uuid)

    async def update_cluster(self, cluster: Cluster) -> Cluster:
        """See IConfig."""
        return await self._link.ask(UPDATE_CLUSTER, self._owner, cluster)

    async def change_tags(self, kind: TagKind, name: str | None, add: Sequence[str], remove: Sequence[str]) -> None:
        """See IConfig."""
        await self._link.ask(CHANGE_TAGS, self._owner, kind, name, add, remove)

    async def generate_mac(self, network: str | None) -> str:
        """See IConfig."""
        self._may_have_reserved = True
        return await self._link.ask(GENERATE_MAC, self._owner, network)

    async def reserve_mac(self, mac: str) -> None:
        """See IConfig."""
        self._may_have_reserved = True
        await self._link.ask(RESERVE_MAC, self._owner, mac)

    async def generate_uuid(self) -> str:
        """See IConfig."""
        self._may_have_reserved = True
        return await self._link.ask(GENERATE_UUID, self._owner)

    async def allocate_port(self) -> int:
        """See IConfig."""
        self._may_have_reserved = True
        return await self._link.ask(ALLOCATE_PORT, self._owner)

    async def generate_ip(self, network: str) -> str:
        """See IConfig."""
        self._may_have_reserved = True
        return await self._link.ask(GENERATE_IP, self._owner, network)

    async def reserve_ip(self, network: str, address: str) -> None:
        """See IConfig."""
        self._may_have_reserved = True
        await self._link.ask(RESERVE_IP, self._owner, network, address)

    async def allocate_minors(self, nodes: Sequence[str]) -> list[int]:
        """See IConfig."""
        self._may_have_reserved = True
        return await self._link.ask(ALLOCATE_MINORS, self._owner, nodes)

    async def generate_secret(self) -> str:
        """See IConfig."""
        self._may_have_reserved = True
        return await self._link.ask(GENERATE_SECRET, self._owner)

    async def drop_reservations(self) -> None:
        """See IConfig; who never asked for anything has nothing to give back."""
        if self._may_have_reserved:
            await self._link.ask(DROP_RESERVATIONS, self._owner)
            self._may_have_reserved = False

    async def redistribute(self) -> None:
        """See IConfig."""
        await self._link.ask(REDISTRIBUTE, self._owner)

    async def when_distributed(self) -> None:
        """See IConfig."""
        await self._link.wait(FLUSH_CONFIG, self._owner, lambda passed: ())

    async def undistributed(self) -> list[tuple[str, str]]:
        """See IConfig."""
        return await self._link.ask(UNDISTRIBUTED, self._owner)
