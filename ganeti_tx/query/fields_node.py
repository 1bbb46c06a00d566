"""The fields of nodes."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from ganeti_tx.model.base import Params
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.node import fill_ndparams, oob_program
from ganeti_tx.query.fields_ndparams import as_told, ndparam_fields
from ganeti_tx.query.language.cell import NO_DATA, NORMAL, UNAVAILABLE, Cell
from ganeti_tx.query.language.field import Field, Gives, Kind, Match, Need, by_name, computed, stored, tracking
from ganeti_tx.query.live import Facts, reason
from ganeti_tx.query.view import View
from ganeti_tx.rpc.calls.node import NodeFacts, StorageSpace

ASKS = frozenset({Need.NODES})


@define
class NodeContext:
    """One query over nodes; `storage` is the type of storage that C{dtotal} and C{dfree} speak of, if any."""

    view: View
    facts: Facts = field(factory=dict)
    storage: str | None = None

    def answer(self, node: Node) -> NodeFacts | Cell:
        """What the node said, or the cell that says why it said nothing."""
        if not node.vm_capable:
            return UNAVAILABLE
        outcome = self.facts.get(node.name)
        if outcome is None or outcome.value is None:
            return reason(outcome.error) if outcome is not None else NO_DATA
        return outcome.value


def role(context: NodeContext) -> Callable[[Node], str]:
    """The node's role in a letter (Ganeti 3.0 configuration table, node_roles)."""
    master = context.view.cluster.master_node

    def get(node: Node) -> str:
        if node.uuid == master:
            return "M"
        if node.offline:
            return "O"
        if node.drained:
            return "D"
        return "C" if node.master_candidate else "R"

    return get


def is_master(context: NodeContext) -> Callable[[Node], bool]:
    """Whether the node is the master."""
    master = context.view.cluster.master_node
    return lambda node: node.uuid == master


def ndparams(context: NodeContext) -> Callable[[Node], Params]:
    """The filled node parameters."""
    view = context.view
    return lambda node: as_told(fill_ndparams(view.cluster, view.config.nodegroups.get(node.group), node))


def powered(context: NodeContext) -> Callable[[Node], bool | None]:
    """What is recorded; nothing can be known of a node without an out-of-band program."""
    parameters = ndparams(context)
    return lambda node: node.powered if oob_program(parameters(node)) else None


def group_name(context: NodeContext) -> Callable[[Node], str | None]:
    """The name of the node's group."""
    groups = context.view.config.nodegroups
    return lambda node: getattr(groups.get(node.group), "name", None)


def names(references: str) -> Callable[[NodeContext], Callable[[Node], object]]:
    """The names of the instances in one of the view's maps."""

    def bind(context: NodeContext) -> Callable[[Node], object]:
        held = getattr(context.view, references)
        return lambda node: held.get(node.uuid, ())

    return bind


def count(references: str) -> Callable[[NodeContext], Callable[[Node], int]]:
    """The number of the instances in one of the view's maps."""

    def bind(context: NodeContext) -> Callable[[Node], int]:
        held = getattr(context.view, references)
        return lambda node: len(held.get(node.uuid, ()))

    return bind


def told(read: Callable[[NodeFacts], object]) -> Callable[[NodeContext], Callable[[Node], Cell]]:
    """Something of the node's answer; without data when the answer lacks it."""

    def bind(context: NodeContext) -> Callable[[Node], Cell]:
        def get(node: Node) -> Cell:
            answer = context.answer(node)
            if isinstance(answer, tuple):
                return answer
            value = read(answer)
            return NO_DATA if value is None else (NORMAL, value)

        return get

    return bind


def of_hypervisor(key: str) -> Callable[[NodeFacts], object]:
    """A hypervisor's number; the first hypervisor that tells it counts."""
    return lambda facts: next((told[key] for told in facts.hypervisors.values() if told.get(key) is not None), None)


def of_storage(attribute: str, spindles: bool) -> Callable[[NodeContext], Callable[[Node], Cell]]:
    """A size of the node's storage, unavailable where the cluster has none; or of its spindles.

    Who has no volume groups is told no data of spindles, as by Ganeti's daemon.
    """

    def bind(context: NodeContext) -> Callable[[Node], Cell]:
        wanted = StorageType.LVM_PV.value if spindles else context.storage
        read = told(lambda facts: space(facts.storage, wanted, attribute))(context)
        return read if spindles or context.storage is not None else lambda node: UNAVAILABLE

    return bind


def space(found: list[StorageSpace], kind: str | None, attribute: str) -> object:
    """A size of the first pool of a kind."""
    return next((getattr(pool, attribute) for pool in found if pool.type == kind), None)


def live(name: str, title: str, kind: Kind, doc: str, bind: Any) -> Field:
    """A field for which the node is asked."""
    return Field(name, title, kind, doc, bind, Gives.CELL, needs=ASKS)


def hypervisor_field(name: str, title: str, kind: Kind, doc: str, key: str) -> Field:
    """A field that the node's hypervisor tells."""
    return live(name, title, kind, doc, told(of_hypervisor(key)))


def storage_field(name: str, title: str, kind: Kind, doc: str, attribute: str, spindles: bool = False) -> Field:
    """A field that the node's storage tells."""
    needs = ASKS | {Need.SPINDLES} if spindles else ASKS
    return Field(name, title, kind, doc, of_storage(attribute, spindles), Gives.CELL, needs=needs)


def state_field(name: str, title: str, doc: str, get: Callable[[Node], Params]) -> Field:
    """A field of what was set by hand, where anything was."""
    return computed(name, title, Kind.OTHER, doc, lambda node: get(node) or None, gives=Gives.MAYBE)


STATIC_FIELDS = [
    stored("name", "Node", Kind.TEXT, "Node name", match=Match.HOSTNAME),
    stored("pip", "PrimaryIP", Kind.TEXT, "Primary IP address", "primary_ip"),
    stored("sip", "SecondaryIP", Kind.TEXT, "Secondary IP address", "secondary_ip"),
    stored("offline", "Offline", Kind.BOOL, "Whether the node is marked offline"),
    stored("drained", "Drained", Kind.BOOL, "Whether the node is drained"),
    Field("powered", "Powered", Kind.BOOL, "Whether the node is thought to be powered on", powered, Gives.MAYBE),
    stored("master_candidate", "MasterC", Kind.BOOL, "Whether the node is a master candidate"),
    stored("master_capable", "MasterCapable", Kind.BOOL, "Whether the node may become a master candidate"),
    stored("vm_capable", "VMCapable", Kind.BOOL, "Whether the node may run instances"),
    stored("group.uuid", "GroupUUID", Kind.TEXT, "Unique identifier of the node's group", "group"),
    Field("group", "Group", Kind.TEXT, "Name of the node's group", group_name, Gives.MAYBE),
    Field("master", "IsMaster", Kind.BOOL, "Whether the node is the master", is_master),
    Field("role", "Role", Kind.TEXT, "Role: M master, C candidate, R regular, D drained, O offline", role),
    Field("pinst_cnt", "Pinst", Kind.NUMBER, "Number of instances of which it is the primary node", count("primaries")),
    Field(
        "pinst_list",
        "PriInstances",
        Kind.OTHER,
        "Names of the instances of which it is the primary node",
        names("primaries"),
    ),
    Field(
        "sinst_cnt", "Sinst", Kind.NUMBER, "Number of instances of which it is a secondary node", count("secondaries")
    ),
    Field(
        "sinst_list",
        "SecInstances",
        Kind.OTHER,
        "Names of the instances of which it is a secondary node",
        names("secondaries"),
    ),
    state_field("hv_state", "HypervisorState", "Hypervisor state set by hand", lambda node: node.hv_state_static),
    state_field("disk_state", "DiskState", "Disk state set by hand", lambda node: node.disk_state_static),
    Field("ndparams", "NodeParameters", Kind.OTHER, "Node parameters (filled)", ndparams),
    stored("custom_ndparams", "CustomNodeParameters", Kind.OTHER, "Node parameters of its own", "ndparams"),
    *tracking(),
    *ndparam_fields(ndparams),
]
LIVE_FIELDS = [
    live(
        "bootid", "BootID", Kind.TEXT, "Random identifier that each boot gives anew", told(lambda f: f.boot_id or None)
    ),
    hypervisor_field("cnodes", "CNodes", Kind.NUMBER, "Number of NUMA domains", "cpu_nodes"),
    hypervisor_field("cnos", "CNOs", Kind.NUMBER, "Number of processors of the node's own system", "cpu_dom0"),
    hypervisor_field("csockets", "CSockets", Kind.NUMBER, "Number of processor sockets", "cpu_sockets"),
    hypervisor_field("ctotal", "CTotal", Kind.NUMBER, "Number of processors of the node", "cpu_total"),
    hypervisor_field("mfree", "MFree", Kind.UNIT, "Memory that is free for instances", "memory_free"),
    hypervisor_field("mnode", "MNode", Kind.UNIT, "Memory of the node's own system", "memory_dom0"),
    hypervisor_field("mtotal", "MTotal", Kind.UNIT, "All memory of the node", "memory_total"),
    storage_field(
        "dfree", "DFree", Kind.UNIT, "Free room in the storage of the first enabled disk template", "storage_free"
    ),
    storage_field(
        "dtotal", "DTotal", Kind.UNIT, "Room in the storage of the first enabled disk template", "storage_size"
    ),
    storage_field("spfree", "SpFree", Kind.NUMBER, "Number of free spindles of the volume group", "storage_free", True),
    storage_field("sptotal", "SpTotal", Kind.NUMBER, "Number of spindles of the volume group", "storage_size", True),
]
NODE_FIELDS = by_name(STATIC_FIELDS, LIVE_FIELDS)
