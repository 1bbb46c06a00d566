"""Every question with the type of its answer, for all clients: `await client.ask(questions.node_role("node1"))`."""

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from attrs import frozen

from ganeti_tx.confd.codec import encode
from ganeti_tx.confd.messages import (
    DrbdMinor,
    ErrorCode,
    InstanceIpQuery,
    MasterField,
    MasterQuery,
    NodeRole,
    RequestType,
    Status,
)

T = TypeVar("T")

NOTHING = msgspec.Raw(b"null")
#: An object of the configuration as its file has it.
Object = dict[str, Any]


class MasterFacts(NamedTuple):
    """The node that is the master, the cluster's own address, and the node's."""

    name: str
    cluster_ip: str
    node_ip: str


class OneOfMany(NamedTuple):
    """The answer to one part of a question: an address, or an error code."""

    status: Status
    answer: str | ErrorCode
    serial: int


class NodeInstances(NamedTuple):
    """The instances that have a node as primary, and those that have a disk there."""

    primary: list[Object]
    secondary: list[Object]


class Collector(msgspec.Struct, frozen=True):
    """Whether a collector of the monitoring daemon runs, and how often (microseconds)."""

    active: bool
    interval: int


@frozen
class Question(Generic[T]):
    """A request, and what its answer is."""

    type: RequestType
    answer: Any
    query: msgspec.Raw = NOTHING

    def read(self, answer: object) -> T:
        """The answer in its type. @raise msgspec.ValidationError: it has another."""
        value: T = msgspec.convert(answer, self.answer)
        return value


def ping() -> Question[int]:
    """The version of the configuration, such as 3000000."""
    return Question(RequestType.PING, int)


def node_role(name: str) -> Question[NodeRole]:
    """What a node is."""
    return Question(RequestType.NODE_ROLE_BYNAME, NodeRole, _raw(name))


def node_ip_of_instance(ip: str, link: str | None = None) -> Question[str]:
    """The primary address of the node on which the instance with an address (on a link, or the default one) runs."""
    return Question(RequestType.NODE_PIP_BY_INSTANCE_IP, str, _raw(InstanceIpQuery(link=link, ip=ip)))


def node_ips_of_instances(ips: Sequence[str], link: str | None = None) -> Question[list[OneOfMany]]:
    """The same for several, in their order."""
    return Question(
        RequestType.NODE_PIP_BY_INSTANCE_IP, list[OneOfMany], _raw(InstanceIpQuery(link=link, ips=tuple(ips)))
    )


def master_name() -> Question[str]:
    """The node that is the master."""
    return Question(RequestType.CLUSTER_MASTER, str)


def master() -> Question[MasterFacts]:
    """The master with its addresses."""
    return Question(RequestType.CLUSTER_MASTER, MasterFacts, _raw(MasterQuery(tuple(MasterField))))


def node_ips() -> Question[list[str]]:
    """The primary addresses of all nodes."""
    return Question(RequestType.NODE_PIP_LIST, list[str])


def candidate_ips() -> Question[list[str]]:
    """The primary addresses of the master candidates."""
    return Question(RequestType.MC_PIP_LIST, list[str])


def instance_ips(link: str | None = None) -> Question[list[str]]:
    """The addresses of instances on a link, or the default one."""
    return Question(RequestType.INSTANCES_IPS_LIST, list[str], _raw(link))


def node_drbd(node: str) -> Question[list[DrbdMinor]]:
    """The mirrors on a node."""
    return Question(RequestType.NODE_DRBD, list[DrbdMinor], _raw(node))


def node_instances(node: str) -> Question[NodeInstances]:
    """The instances on a node; private parameters are blanked."""
    return Question(RequestType.NODE_INSTANCES, NodeInstances, _raw(node))


def instance_disks(instance: str) -> Question[list[Object]]:
    """The disks of an instance; secrets are blanked."""
    return Question(RequestType.INSTANCE_DISKS, list[Object], _raw(instance))


def config(pointer: str) -> Question[Any]:
    """Any value of the configuration by its JSON pointer (RFC 6901), such as "/cluster/tags/0"."""
    return Question(RequestType.CONFIG_QUERY, Any, _raw(pointer))


def config_serial() -> Question[int]:
    """The serial number of the whole configuration, which every change raises."""
    return Question(RequestType.CONFIG_QUERY, int, _raw("/serial_no"))


def collectors() -> Question[dict[str, Collector]]:
    """The collectors of the monitoring daemon."""
    return Question(RequestType.DATA_COLLECTORS, dict[str, Collector])


def _raw(query: object) -> msgspec.Raw:
    return msgspec.Raw(encode(query))
