"""Node groups as a resource of queries, with their fields."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from attrs import frozen

from ganeti_tx.model.base import Params
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.disk import fill_diskparams
from ganeti_tx.model.params.ipolicy import fill as fill_ipolicy
from ganeti_tx.model.params.node import fill_ndparams
from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.fields_ndparams import as_told, ndparam_fields
from ganeti_tx.query.language.field import Field, Kind, Need, by_name, computed, stored, tracking
from ganeti_tx.query.view import View, chosen


def ndparams(view: View) -> Callable[[NodeGroup], Params]:
    """The filled node parameters."""
    return lambda group: as_told(fill_ndparams(view.cluster, group))


def diskparams(view: View) -> Callable[[NodeGroup], object]:
    """The filled disk parameters."""
    return lambda group: fill_diskparams(view.cluster, group)


def ipolicy(view: View) -> Callable[[NodeGroup], object]:
    """The whole instance policy."""
    return lambda group: msgspec.to_builtins(fill_ipolicy(view.cluster.ipolicy, group.ipolicy))


def node_names(view: View) -> Callable[[NodeGroup], list[str]]:
    """The names of the group's nodes."""
    members = view.members
    return lambda group: [node.name for node in members.get(group.uuid, ())]


def node_count(view: View) -> Callable[[NodeGroup], int]:
    """The number of the group's nodes."""
    members = view.members
    return lambda group: len(members.get(group.uuid, ()))


def instance_names(view: View) -> Callable[[NodeGroup], list[str]]:
    """The names of the instances on the group's nodes, in their order."""
    members, primaries = view.members, view.primaries
    return lambda group: sorted(name for node in members.get(group.uuid, ()) for name in primaries.get(node.uuid, ()))


def instance_count(view: View) -> Callable[[NodeGroup], int]:
    """The number of the instances on the group's nodes."""
    members, primaries = view.members, view.primaries
    return lambda group: sum(len(primaries.get(node.uuid, ())) for node in members.get(group.uuid, ()))


GROUP_FIELDS = by_name(
    [
        stored("name", "Group", Kind.TEXT, "Group name"),
        stored(
            "alloc_policy",
            "AllocPolicy",
            Kind.TEXT,
            "Whether allocation may pick the group: preferred, last_resort or unallocable",
        ),
        Field("node_cnt", "Nodes", Kind.NUMBER, "Number of the group's nodes", node_count),
        Field("node_list", "NodeList", Kind.OTHER, "Names of the group's nodes", node_names),
        Field("pinst_cnt", "Instances", Kind.NUMBER, "Number of instances on the group's nodes", instance_count),
        Field("pinst_list", "InstanceList", Kind.OTHER, "Names of the instances on the group's nodes", instance_names),
        Field("diskparams", "DiskParameters", Kind.OTHER, "Disk parameters (filled)", diskparams),
        stored("custom_diskparams", "CustomDiskParameters", Kind.OTHER, "Disk parameters of its own", "diskparams"),
        Field("ipolicy", "InstancePolicy", Kind.OTHER, "Instance policy (filled)", ipolicy),
        computed(
            "custom_ipolicy",
            "CustomInstancePolicy",
            Kind.OTHER,
            "Instance policy of its own",
            lambda group: msgspec.to_builtins(group.ipolicy),
        ),
        Field("ndparams", "NDParams", Kind.OTHER, "Node parameters (filled)", ndparams),
        stored("custom_ndparams", "CustomNDParams", Kind.OTHER, "Node parameters of its own", "ndparams"),
        stored("hv_state", "HypervisorState", Kind.OTHER, "Hypervisor state set by hand", "hv_state_static"),
        stored("disk_state", "DiskState", Kind.OTHER, "Disk state set by hand", "disk_state_static"),
    ],
    tracking(),
    ndparam_fields(ndparams),
)


@frozen
class GroupRows:
    """Rows are node groups of the configuration; the context is the view."""

    view: Callable[[], View]
    name_field: str = "name"
    fields: Mapping[str, Field] = GROUP_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[NodeGroup], View]:
        """As Resource.rows says."""
        view = self.view()
        return chosen(view.groups, view.group_names, names, strict), view

    async def collect(self, rows: Sequence[NodeGroup], context: View, needs: frozenset[Need]) -> View:
        """Nothing to ask nodes for."""
        return context
