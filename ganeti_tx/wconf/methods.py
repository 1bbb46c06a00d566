"""The one table of WConfD's methods, that server and client read: names, arguments, results.

A request's arguments are the owner, [job id, livelock], and the list of the method's own arguments (daemons.txt: the
protocol is stateless, all resources are owned by the pair). Configuration methods are those of IConfig, by name.
"""

from enum import Enum
from typing import Any

import attrs

from ganeti_tx.luxi.methods import Method, MethodTable, Param
from ganeti_tx.luxi.shapes import LIST
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


class Effect(Enum):
    """What doing it twice means: nothing, or a second change."""

    READS = "reads"
    CHANGES = "changes"


@attrs.frozen
class ConfigMethod:
    """The types of one method of IConfig."""

    arguments: tuple[Any, ...]
    result: Any
    effect: Effect


def reads(result: Any, *arguments: Any) -> ConfigMethod:
    """A method that may be asked again when the connection was lost."""
    return ConfigMethod(arguments, result, Effect.READS)


def changes(result: Any, *arguments: Any) -> ConfigMethod:
    """A method that may not."""
    return ConfigMethod(arguments, result, Effect.CHANGES)


_NAMES = list[str] | None

CONFIG_METHODS: dict[str, ConfigMethod] = {
    "cluster": reads(Cluster),
    "node": reads(Node, str),
    "nodes": reads(list[Node], _NAMES),
    "group": reads(NodeGroup, str),
    "groups": reads(list[NodeGroup], _NAMES),
    "instance": reads(Instance, str),
    "instances": reads(list[Instance], _NAMES),
    "instance_names": reads(list[str]),
    "instances_of_node": reads(tuple[list[Instance], list[Instance]], str),
    "disks": reads(list[Disk], str),
    "network": reads(Network, str),
    "tags": reads(list[str], TagKind, str | None),
    "verify": reads(list[str]),
    "add_instance": changes(None, Instance, list[Disk]),
    "update_instance": changes(Instance, Instance),
    "set_instance_state": changes(Instance, str, AdminState, AdminStateSource, bool),
    "remove_instance": changes(None, str),
    "update_disk": changes(Disk, Disk),
    "add_node": changes(None, Node, str | None),
    "update_node": changes(Node, Node),
    "remove_node": changes(None, str),
    "update_group": changes(NodeGroup, NodeGroup),
    "update_cluster": changes(Cluster, Cluster),
    "change_tags": changes(None, TagKind, str | None, list[str], list[str]),
    "generate_mac": changes(str, str | None),
    "reserve_mac": changes(None, str),
    "generate_uuid": changes(str),
    "allocate_port": changes(int),
    "drop_reservations": reads(None),
    "when_distributed": reads(None),
}

UPDATE_LOCKS = "UpdateLocks"
OPPORTUNISTIC_LOCK_UNION = "OpportunisticLockUnion"
LIST_LOCKS = "ListLocks"
INTERSECT_LOCKS = "IntersectLocks"
FREE_LOCKS = "FreeLocks"
SET_LOCK_PRIORITY = "SetLockPriority"
REMOVE_LOCK = "RemoveLock"
LOCK_OVERVIEW = "LockOverview"

#: A lock and the word for its mode, as LockRequest reads them.
WireRequest = tuple[str, str]

LOCK_METHODS: dict[str, ConfigMethod] = {
    UPDATE_LOCKS: reads(None, list[WireRequest], int, float | None),
    OPPORTUNISTIC_LOCK_UNION: reads(list[str], list[WireRequest], int),
    LIST_LOCKS: reads(list[WireRequest]),
    INTERSECT_LOCKS: reads(None, list[str]),
    FREE_LOCKS: reads(None),
    SET_LOCK_PRIORITY: reads(None, int),
    REMOVE_LOCK: reads(None, str),
    LOCK_OVERVIEW: reads(list[Any]),
}

TABLE = {**CONFIG_METHODS, **LOCK_METHODS}
METHODS = MethodTable(
    Method(name, (Param("owner: [job id, livelock]", LIST), Param("list of arguments", LIST))) for name in TABLE
)
