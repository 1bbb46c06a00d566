"""The one table of WConfD's methods, with the types that both ends use. Each request begins with its owner."""

from enum import Enum
from types import NoneType
from typing import Any, Generic, TypeVar, get_args

import attrs
import msgspec

from ganeti_tx.luxi.method_table import Method, MethodTable, Param
from ganeti_tx.luxi.shapes import Shape, ShapeError
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup

R = TypeVar("R")

#: A job's number and its livelock file (daemons.txt, Statelessness of the protocol).
WireOwner = tuple[int, str]
#: A lock and the mode it shall have, as `LockRequest.to_wire` writes it.
WireRequest = tuple[str, str]
#: Name, mode, owners, and who waits: as `LockStatus`.
WireLock = tuple[str, str | None, list[WireOwner], list[tuple[str, list[WireOwner]]]]


class Repeat(Enum):
    """Whether a request may be sent again when the connection was lost before the answer."""

    SAFE = "doing it twice is doing it once"
    NEVER = "whether it was done would not be known"


@attrs.frozen(eq=False)
class Call(Generic[R]):
    """One method: its name on the wire, the method of IConfig or ILocks behind it, its arguments, its result."""

    name: str
    attribute: str
    arguments: tuple[Any, ...]
    result: type[R]
    repeat: Repeat = Repeat.SAFE


NAMES = list[str] | None
NEVER = Repeat.NEVER

# Reading

GET_CLUSTER = Call("GetCluster", "cluster", (), Cluster)
GET_NODE = Call("GetNode", "node", (str,), Node)
GET_NODES = Call("GetNodes", "nodes", (NAMES,), list[Node])
GET_GROUP = Call("GetGroup", "group", (str,), NodeGroup)
GET_GROUPS = Call("GetGroups", "groups", (NAMES,), list[NodeGroup])
GET_INSTANCE = Call("GetInstance", "instance", (str,), Instance)
GET_INSTANCES = Call("GetInstances", "instances", (NAMES,), list[Instance])
GET_INSTANCE_LIST = Call("GetInstanceList", "instance_names", (), list[str])
GET_INSTANCE_VIEW = Call("GetInstanceView", "instance_view", (str,), InstanceView)
GET_INSTANCE_VIEWS = Call("GetInstanceViews", "instance_views", (NAMES,), InstanceViews)
GET_NODE_INSTANCES = Call("GetNodeInstances", "instances_of_node", (str,), tuple[list[Instance], list[Instance]])
GET_INSTANCE_DISKS = Call("GetInstanceDisks", "disks", (str,), list[Disk])
GET_NETWORK = Call("GetNetwork", "network", (str,), Network)
GET_NETWORKS = Call("GetNetworks", "networks", (NAMES,), list[Network])
GET_FILTERS = Call("GetFilters", "filters", (), list[FilterRule])
GET_TAGS = Call("GetTags", "tags", (TagKind, str | None), list[str])
VERIFY_CONFIG = Call("VerifyConfig", "verify", (), list[str])

# Changing

ADD_INSTANCE = Call("AddInstance", "add_instance", (Instance, list[Disk]), NoneType, NEVER)
UPDATE_INSTANCE = Call("UpdateInstance", "update_instance", (Instance,), Instance, NEVER)
SET_INSTANCE_STATE = Call("SetInstanceState", "set_instance_state", (str, AdminState, AdminStateSource, bool), Instance)
REMOVE_INSTANCE = Call("RemoveInstance", "remove_instance", (str,), NoneType, NEVER)
UPDATE_DISK = Call("UpdateDisk", "update_disk", (Disk,), Disk, NEVER)
ADD_DISK = Call("AddInstanceDisk", "add_disk", (str, Disk, int | None), NoneType, NEVER)
REMOVE_DISK = Call("RemoveInstanceDisk", "remove_disk", (str,), NoneType, NEVER)
ADD_NODE = Call("AddNode", "add_node", (Node, str | None, str | None), NoneType, NEVER)
UPDATE_NODE = Call("UpdateNode", "update_node", (Node,), Node, NEVER)
CHANGE_NODES = Call("ChangeNodes", "change_nodes", (list[Node], dict[str, str]), NoneType, NEVER)
REMOVE_NODE = Call("RemoveNode", "remove_node", (str,), NoneType, NEVER)
ADD_GROUP = Call("AddNodeGroup", "add_group", (NodeGroup,), NoneType, NEVER)
UPDATE_GROUP = Call("UpdateNodeGroup", "update_group", (NodeGroup,), NodeGroup, NEVER)
REMOVE_GROUP = Call("RemoveNodeGroup", "remove_group", (str,), NoneType, NEVER)
ADD_NETWORK = Call("AddNetwork", "add_network", (Network,), NoneType, NEVER)
UPDATE_NETWORK = Call("UpdateNetwork", "update_network", (Network,), Network, NEVER)
REMOVE_NETWORK = Call("RemoveNetwork", "remove_network", (str,), NoneType, NEVER)
PUT_FILTER = Call("PutFilter", "put_filter", (FilterRule,), NoneType)
REMOVE_FILTER = Call("RemoveFilter", "remove_filter", (str,), NoneType, NEVER)
UPDATE_CLUSTER = Call("UpdateCluster", "update_cluster", (Cluster,), Cluster, NEVER)
CHANGE_TAGS = Call("ChangeTags", "change_tags", (TagKind, str | None, list[str], list[str]), NoneType, NEVER)

# Reserving; what an answer that was lost had reserved is given back with the rest

GENERATE_MAC = Call("GenerateMAC", "generate_mac", (str | None,), str)
RESERVE_MAC = Call("ReserveMAC", "reserve_mac", (str,), NoneType)
GENERATE_UUID = Call("GenerateUniqueID", "generate_uuid", (), str)
ALLOCATE_PORT = Call("AllocatePort", "allocate_port", (), int)
GENERATE_IP = Call("GenerateIp", "generate_ip", (str,), str)
RESERVE_IP = Call("ReserveIp", "reserve_ip", (str, str), NoneType)
ALLOCATE_MINORS = Call("AllocateDRBDMinor", "allocate_minors", (list[str],), list[int])
GENERATE_SECRET = Call("GenerateDRBDSecret", "generate_secret", (), str)
DROP_RESERVATIONS = Call("DropAllReservations", "drop_reservations", (), NoneType)
RESERVING: frozenset[str] = frozenset(
    each.name
    for each in (
        GENERATE_MAC, RESERVE_MAC, GENERATE_UUID, ALLOCATE_PORT, GENERATE_IP, RESERVE_IP, ALLOCATE_MINORS,
        GENERATE_SECRET, DROP_RESERVATIONS,
    )
)  # fmt: skip

REDISTRIBUTE = Call("RedistributeConfig", "redistribute", (), NoneType)
FLUSH_CONFIG = Call("FlushConfig", "when_distributed", (), NoneType)
UNDISTRIBUTED = Call("ListUndistributed", "undistributed", (), list[tuple[str, str]])

CONFIG_CALLS: tuple[Call[Any], ...] = tuple(each for each in list(globals().values()) if isinstance(each, Call))

# Locks (daemons.txt, Locking)

#: Requests, priority, seconds to wait; answers why it was given up when the time was over.
UPDATE_LOCKS = Call("UpdateLocks", "update", (int, list[WireRequest], int, float | None), str | None)  # type: ignore[arg-type]
OPPORTUNISTIC_UNION = Call("OpportunisticLockUnion", "opportunistic_union", (list[WireRequest], int), list[str], NEVER)
LIST_LOCKS = Call("ListLocks", "held", (), dict[str, str])
INTERSECT_LOCKS = Call("IntersectLocks", "intersect", (list[str],), NoneType)
FREE_LOCKS = Call("FreeLocks", "release_all", (int,), NoneType)
SET_LOCK_PRIORITY = Call("SetLockPriority", "set_priority", (int,), NoneType)
REMOVE_LOCK = Call("RemoveLock", "remove", (str,), NoneType, NEVER)
LIST_ALL_LOCKS = Call("ListAllLocks", "overview", (), list[WireLock])
#: Somebody knows that a process died: what it had is free when the answer comes.
LOOK_FOR_DEAD = Call("LookForDead", "look_for_dead", (), NoneType)

#: What luxid, when it runs apart, shows of this daemon (doc/design/metrics.rst).
READ_METRICS = Call("ReadMetrics", "readings", (), Readings)

#: Seconds to wait; answers the candidates that lack something then, and why.
SPREAD_RAPI_FILES = Call("SpreadRapiFiles", "spread_rapi_files", (float,), list[tuple[str, str]])

CALLS: dict[str, Call[Any]] = {each.name: each for each in list(globals().values()) if isinstance(each, Call)}


def shape(expected: Any) -> Shape:
    """The shape of what one type decodes."""
    word = expected.__name__ if isinstance(expected, type) and not get_args(expected) else str(expected)

    def read(value: object) -> object:
        try:
            return msgspec.convert(value, expected)
        except msgspec.ValidationError as error:
            raise ShapeError(str(error)) from None

    return Shape(word, read)


def server_table() -> MethodTable:
    """The methods as the server checks them: the owner, then the arguments."""
    owner = Param("owner [job id, livelock]", shape(WireOwner))
    return MethodTable(
        Method(call.name, (owner, *(Param(shape(each).expected, shape(each)) for each in call.arguments)))
        for call in CALLS.values()
    )
