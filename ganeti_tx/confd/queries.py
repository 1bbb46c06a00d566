"""The twelve requests: what each answers from a view of the configuration (Ganeti 3.0 confd table).

Where Ganeti's own answer is of no use, ours is right: a short name of the master's node is answered "master", not
"candidate". All else is as there, also that an unknown node is a text and not the error code for unknown entries.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from ganeti_tx.confd.codec import MALFORMED
from ganeti_tx.confd.messages import (
    ErrorCode,
    InstanceIpQuery,
    MasterField,
    MasterQuery,
    NodeInstancesQuery,
    Reply,
    RequestType,
    Status,
)
from ganeti_tx.confd.pointer import resolve
from ganeti_tx.confd.view import View
from ganeti_tx.errors import ECode, OpPrereqError, ParameterError
from ganeti_tx.model.instance import Instance

T = TypeVar("T")
#: The part of a question that says about what: nothing, a text or an object; what ignores it takes anything.
Query = Any


class Found(NamedTuple):
    """An answer and the serial number of what it was taken from."""

    answer: Any
    serial: int


class WrongQuery(Exception):
    """The query is not of the kind that the request takes."""


class UnknownEntry(Exception):
    """There is no such thing."""


def reply_to(view: View, kind: RequestType, raw: bytes) -> Reply:
    """The reply to a request with a query in JSON."""
    try:
        answer, serial = ANSWERS[kind](view, msgspec.json.decode(raw))
    except (WrongQuery, ParameterError, *MALFORMED):
        return Reply(status=Status.ERROR, answer=ErrorCode.ARGUMENT, serial=view.serial)
    except UnknownEntry:
        return Reply(status=Status.ERROR, answer=ErrorCode.UNKNOWN_ENTRY, serial=view.serial)
    except OpPrereqError as error:
        return refusal(str(error))
    return Reply(status=Status.OK, answer=answer, serial=serial)


def refusal(text: str) -> Reply:
    """An error for people."""
    return Reply(status=Status.ERROR, answer=text, serial=0)


def ping(view: View, _query: Query) -> Found:
    """The version of the configuration."""
    return Found(view.config.version, 0)


def node_role(view: View, query: Query) -> Found:
    """What a node is. A wrong query is a text, here as in Ganeti."""
    if not isinstance(query, str):
        raise OpPrereqError("the query must be the name of a node", ECode.INVAL)
    return Found(view.role(view.nodes.find(query)), view.serial)


def node_ip_by_instance_ip(view: View, query: Query) -> Found:
    """The primary address of the node an instance runs on, by one of the instance's addresses; or several."""
    wanted = _object(query, InstanceIpQuery)
    addresses = view.by_address.get(view.default_link if wanted.link is None else wanted.link, {})

    def node_ip(ip: str) -> str | None:
        node = view.config.nodes.get(addresses[ip].primary_node) if ip in addresses else None
        return None if node is None else node.primary_ip

    def triple(ip: str) -> tuple[int, object, int]:
        found = node_ip(ip)
        if found is None:
            return Status.ERROR, ErrorCode.UNKNOWN_ENTRY, view.serial
        return Status.OK, found, view.serial

    if wanted.ip is None:
        if wanted.ips is None:
            raise WrongQuery
        return Found([triple(ip) for ip in wanted.ips], view.serial)
    found = node_ip(wanted.ip)
    if found is None:
        raise UnknownEntry
    return Found(found, view.serial)


def cluster_master(view: View, query: Query) -> Found:
    """The master's name; with an object the fields that it names."""
    cluster = view.config.cluster
    master = view.config.nodes[cluster.master_node]
    if query is None:
        return Found(master.name, view.serial)
    values = {
        MasterField.NAME: master.name,
        MasterField.CLUSTER_IP: cluster.master_ip,
        MasterField.NODE_IP: master.primary_ip,
    }
    return Found([values[field] for field in _object(query, MasterQuery).fields], view.serial)


def node_ips(view: View, _query: Query) -> Found:
    """The primary addresses of all nodes."""
    return Found([node.primary_ip for node in view.nodes_by_name()], view.serial)


def candidate_ips(view: View, _query: Query) -> Found:
    """The primary addresses of the master candidates."""
    return Found([node.primary_ip for node in view.nodes_by_name() if node.master_candidate], view.serial)


def instance_ips(view: View, query: Query) -> Found:
    """The addresses of instances on a link."""
    link = view.default_link if query is None else _text(query)
    return Found(list(view.by_address.get(link, {})), view.serial)


def node_drbd(view: View, query: Query) -> Found:
    """The mirrors on a node."""
    node = view.nodes.find(_text(query))
    return Found(view.minors[node.uuid], node.serial_no)


def node_instances(view: View, query: Query) -> Found:
    """The instances that have the node as primary, and as secondary: whole, which fits for some fifty, or some fields."""
    wanted = None if isinstance(query, str) else _object(query, NodeInstancesQuery)
    node = view.nodes.find(_text(query) if wanted is None else wanted.node)
    found = [view.primaries[node.uuid], view.secondaries[node.uuid]]
    if wanted is None:
        return Found(found, node.serial_no)
    if not set(wanted.fields) <= set(Instance.__struct_fields__):
        raise WrongQuery
    return Found([[[getattr(each, name) for name in wanted.fields] for each in part] for part in found], node.serial_no)


def instance_disks(view: View, query: Query) -> Found:
    """The disks of an instance, in their order."""
    instance = view.instances.find(_text(query))
    disks = view.config.disks
    return Found([disks[uuid] for uuid in instance.disks if uuid in disks], instance.serial_no)


def config_query(view: View, query: Query) -> Found:
    """Any value of the configuration by its place."""
    return Found(resolve(view.config, _text(query)), view.serial)


def data_collectors(view: View, _query: Query) -> Found:
    """Which collectors of the monitoring daemon run, and how often."""
    return Found(view.config.cluster.data_collectors, view.serial)


def _text(query: Query) -> str:
    if not isinstance(query, str):
        raise WrongQuery
    return query


def _object(query: Query, kind: type[T]) -> T:
    if not isinstance(query, Mapping):
        raise WrongQuery
    return msgspec.convert(query, kind)


ANSWERS: Mapping[RequestType, Callable[[View, Query], Found]] = {
    RequestType.PING: ping,
    RequestType.NODE_ROLE_BYNAME: node_role,
    RequestType.NODE_PIP_BY_INSTANCE_IP: node_ip_by_instance_ip,
    RequestType.CLUSTER_MASTER: cluster_master,
    RequestType.NODE_PIP_LIST: node_ips,
    RequestType.MC_PIP_LIST: candidate_ips,
    RequestType.INSTANCES_IPS_LIST: instance_ips,
    RequestType.NODE_DRBD: node_drbd,
    RequestType.NODE_INSTANCES: node_instances,
    RequestType.INSTANCE_DISKS: instance_disks,
    RequestType.CONFIG_QUERY: config_query,
    RequestType.DATA_COLLECTORS: data_collectors,
}
