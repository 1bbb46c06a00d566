"""What is asked of a configuration daemon and what it answers (Ganeti 3.0 confd table)."""

from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

PORT = 1814
#: The fourcc before every message: plain JSON, the first kind.
MAGIC = b"plj0"
PROTOCOL = 1
#: Seconds that the clocks of a client and a server may differ, in either direction.
MAX_CLOCK_SKEW = 300
#: A request is not read beyond so many bytes.
MAX_REQUEST = 4096
#: A reply's message, written as a JSON string, has at most so many bytes: with any salt of a request it fits in UDP.
MAX_MESSAGE = 61440
#: No datagram is larger.
MAX_DATAGRAM = 65535


class RequestType(IntEnum):
    """What can be asked."""

    PING = 0
    NODE_ROLE_BYNAME = 1
    NODE_PIP_BY_INSTANCE_IP = 2
    CLUSTER_MASTER = 3
    NODE_PIP_LIST = 4
    MC_PIP_LIST = 5
    INSTANCES_IPS_LIST = 6
    NODE_DRBD = 7
    NODE_INSTANCES = 8
    INSTANCE_DISKS = 9
    CONFIG_QUERY = 10
    DATA_COLLECTORS = 11


class Status(IntEnum):
    """What kind of answer it is."""

    OK = 0
    ERROR = 1
    NOT_IMPLEMENTED = 2


class ErrorCode(IntEnum):
    """The answer of some errors; others have a text."""

    UNKNOWN_ENTRY = 0
    INTERNAL = 1
    ARGUMENT = 2


class NodeRole(IntEnum):
    """What a node is."""

    MASTER = 0
    CANDIDATE = 1
    OFFLINE = 2
    DRAINED = 3
    REGULAR = 4


class MasterField(IntEnum):
    """What CLUSTER_MASTER can tell."""

    NAME = 0
    CLUSTER_IP = 1
    NODE_IP = 2


class Request(msgspec.Struct, frozen=True):
    """A question; the query is left as it came. Ganeti does not look at the protocol, so neither do we."""

    type: int
    rsalt: str
    query: msgspec.Raw = msgspec.Raw(b"null")
    protocol: msgspec.Raw = msgspec.Raw(b"1")


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, with the serial number of what it was taken from: of several replies the highest is the newest."""

    status: int
    answer: Any
    serial: int
    protocol: int = PROTOCOL


class MasterQuery(msgspec.Struct, frozen=True, rename={"fields": "3"}):
    """The object form of a CLUSTER_MASTER query."""

    fields: tuple[MasterField, ...] = ()


class InstanceIpQuery(msgspec.Struct, frozen=True, rename={"link": "0", "ip": "1", "ips": "2"}, omit_defaults=True):
    """The query of NODE_PIP_BY_INSTANCE_IP: one address, or several when that is absent."""

    link: str | None = None
    ip: str | None = None
    ips: tuple[str, ...] | None = None


class NodeInstancesQuery(msgspec.Struct, frozen=True, rename={"node": "0", "fields": "3"}):
    """An object query of NODE_INSTANCES, which Ganeti does not know: only these fields of each instance, as a list."""

    node: str
    fields: tuple[str, ...]


class DrbdMinor(NamedTuple):
    """A mirror's place on a node; `disk` is such as "disk/0", `role` "primary" or "secondary", `peer` the other node."""

    node: str
    minor: int
    instance: str
    disk: str
    role: str
    peer: str
