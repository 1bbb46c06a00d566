"""The fields of instances that come from the configuration, and those that their nodes tell."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.params.os import fill_osparams
from ganeti_tx.query.fields_instance_disks import DISK_FIELDS
from ganeti_tx.query.fields_instance_nics import NIC_FIELDS
from ganeti_tx.query.fields_instance_params import PARAM_FIELDS
from ganeti_tx.query.instance_context import HALTED, USER_SHUTDOWN, InstanceContext, Seen
from ganeti_tx.query.language.cell import NORMAL, UNAVAILABLE, Cell
from ganeti_tx.query.language.field import Field, Gives, Kind, Match, Need, by_name, computed, maybe, stored, tracking
from ganeti_tx.query.language.spellings import SpelledFields
from ganeti_tx.rpc.calls.instance import RunningInstance

RUNS = frozenset({Need.INSTANCES})


def primary_name(context: InstanceContext) -> Callable[[Instance], str | None]:
    """The name of the primary node."""
    names = {uuid: node.name for uuid, node in context.view.config.nodes.items()}
    return lambda instance: names.get(instance.primary_node)


def primary_group(attribute: str) -> Callable[[InstanceContext], Callable[[Instance], str | None]]:
    """The name or uuid of the primary node's group."""

    def bind(context: InstanceContext) -> Callable[[Instance], str | None]:
        group_of = context.view.group_of
        return lambda instance: getattr(group_of(instance.primary_node), attribute, None)

    return bind


def secondary_names(context: InstanceContext) -> Callable[[Instance], list[str | None]]:
    """The names of the secondary nodes."""
    view = context.view
    return lambda instance: [view.node_name(node) for node in view.secondary_nodes(instance)]


def secondary_groups(attribute: str) -> Callable[[InstanceContext], Callable[[Instance], list[str | None]]]:
    """The names or uuids of the secondary nodes' groups."""

    def bind(context: InstanceContext) -> Callable[[Instance], list[str | None]]:
        view = context.view
        return lambda instance: [
            getattr(view.group_of(node), attribute, None) for node in view.secondary_nodes(instance)
        ]

    return bind


def osparams(context: InstanceContext) -> Callable[[Instance], dict[str, str]]:
    """The filled public parameters of the OS."""
    cluster = context.view.cluster
    return lambda instance: fill_osparams(cluster, instance.os, instance.osparams)


#: A cell of what the primary node says of an instance.
Told = Callable[[InstanceContext, Instance, Seen], Cell]


def of_running(attribute: str) -> Told:
    """What the primary node says of an instance that runs."""
    read = attrgetter(attribute)

    def cell(context: InstanceContext, instance: Instance, seen: Seen) -> Cell:
        if isinstance(seen, tuple):
            return seen
        return UNAVAILABLE if seen.state == USER_SHUTDOWN else (NORMAL, read(seen))

    return cell


def is_running(context: InstanceContext, instance: Instance, seen: Seen) -> Cell:
    """Whether the primary node runs it."""
    if isinstance(seen, RunningInstance):
        return NORMAL, seen.state not in (USER_SHUTDOWN, HALTED)
    return (NORMAL, False) if seen is UNAVAILABLE else seen


def live(name: str, title: str, kind: Kind, doc: str, told: Told, needs: frozenset[Need] = RUNS) -> Field:
    """A field for which the primary node is asked what it runs."""

    def bind(context: InstanceContext) -> Callable[[Instance], Cell]:
        return lambda instance: told(context, instance, context.seen(instance))

    def of_all(context: InstanceContext, instances: Sequence[Instance]) -> list[Cell]:
        return [
            told(context, instance, seen)
            for instance, seen in zip(instances, context.seen_each(instances), strict=True)
        ]

    return Field(name, title, kind, doc, bind, Gives.CELL, needs=needs, of_all=of_all)


def node_field(name: str, title: str, kind: Kind, doc: str, bind: Any, **more: Any) -> Field:
    """A field about the instance's nodes."""
    return Field(name, title, kind, doc, bind, **more)


STATIC_FIELDS = [
    stored("name", "Instance", Kind.TEXT, "Instance name", match=Match.HOSTNAME),
    stored("admin_state", "InstanceState", Kind.TEXT, "Desired state of the instance"),
    stored("admin_state_source", "InstanceStateSource", Kind.TEXT, "Who last set the desired state: admin or user"),
    computed(
        "admin_up",
        "Autostart",
        Kind.BOOL,
        "Whether the instance is meant to run",
        lambda instance: instance.admin_state is AdminState.UP,
    ),
    stored("disks_active", "DisksActive", Kind.BOOL, "Whether the disks are meant to be ready on the nodes"),
    stored("forthcoming", "Forthcoming", Kind.BOOL, "Whether the instance is reserved only and does not exist yet"),
    stored("hypervisor", "Hypervisor", Kind.TEXT, "Hypervisor that runs the instance"),
    maybe("network_port", "Network_port", Kind.OTHER, "TCP port of the instance, as for its console"),
    stored("os", "OS", Kind.TEXT, "Operating system that was installed, with its variant"),
    Field("osparams", "OpSysParameters", Kind.OTHER, "Operating system parameters (filled)", osparams),
    stored(
        "custom_osparams", "CustomOpSysParameters", Kind.OTHER, "Operating system parameters of its own", "osparams"
    ),
    *tracking(),
]
NODE_FIELDS = [
    node_field(
        "pnode",
        "Primary_node",
        Kind.TEXT,
        "Name of the primary node",
        primary_name,
        gives=Gives.MAYBE,
        match=Match.HOSTNAME,
    ),
    node_field(
        "pnode.group",
        "PrimaryNodeGroup",
        Kind.TEXT,
        "Name of the primary node's group",
        primary_group("name"),
        gives=Gives.MAYBE,
    ),
    node_field(
        "pnode.group.uuid",
        "PrimaryNodeGroupUUID",
        Kind.TEXT,
        "Unique identifier of the primary node's group",
        primary_group("uuid"),
        gives=Gives.MAYBE,
    ),
    node_field("snodes", "Secondary_Nodes", Kind.OTHER, "Names of the secondary nodes", secondary_names),
    node_field(
        "snodes.group",
        "SecondaryNodesGroups",
        Kind.OTHER,
        "Names of the secondary nodes' groups",
        secondary_groups("name"),
    ),
    node_field(
        "snodes.group.uuid",
        "SecondaryNodesGroupsUUID",
        Kind.OTHER,
        "Unique identifiers of the secondary nodes' groups",
        secondary_groups("uuid"),
    ),
]
LIVE_FIELDS = [
    live("oper_ram", "Memory", Kind.UNIT, "Memory that the running instance has", of_running("memory")),
    live("oper_vcpus", "VCPUs", Kind.NUMBER, "Processors that the running instance has", of_running("vcpus")),
    live("oper_state", "Running", Kind.BOOL, "Whether the instance runs on its primary node", is_running),
    live(
        "status",
        "Status",
        Kind.TEXT,
        "Desired and actual state in one word: running, ADMIN_down, ADMIN_offline, USER_down, ERROR_down, ERROR_up,"
        " ERROR_halted, ERROR_nodedown, ERROR_nodeoffline or ERROR_wrongnode",
        lambda context, instance, seen: (NORMAL, context.status(instance, seen)),
    ),
    live(
        "console",
        "Console",
        Kind.OTHER,
        "How to reach the console",
        lambda context, instance, seen: context.console(instance, seen),
        needs=RUNS | {Need.CONSOLES},
    ),
]
#: How design-2.0 spells the names of parameters, and how Ganeti 3.0 lists them.
OF_THE_DESIGN = {"hvparam/": "hv/", "beparam/": "be/"}
INSTANCE_FIELDS = SpelledFields(
    by_name(STATIC_FIELDS, NODE_FIELDS, LIVE_FIELDS, PARAM_FIELDS, NIC_FIELDS, DISK_FIELDS), OF_THE_DESIGN
)
