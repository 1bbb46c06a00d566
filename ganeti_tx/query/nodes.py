"""Nodes as a resource of queries."""

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred, gatherResults

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.node import Node
from ganeti_tx.model.pools import pool_of
from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.fields_node import NODE_FIELDS, NodeContext
from ganeti_tx.query.language.field import Field, Need
from ganeti_tx.query.live import node_facts
from ganeti_tx.query.view import View, chosen
from ganeti_tx.rpc.calls.node import StorageUnit
from ganeti_tx.rpc.interfaces import INodeRpc


@frozen
class NodeRows:
    """Rows are nodes of the configuration."""

    view: Callable[[], View]
    rpc: INodeRpc
    name_field: str = "name"
    fields: Mapping[str, Field] = NODE_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[Node], NodeContext]:
        """As Resource.rows says."""
        view = self.view()
        return chosen(view.nodes, view.node_names, names, strict), NodeContext(view)

    async def collect(self, rows: Sequence[Node], context: NodeContext, needs: frozenset[Need]) -> NodeContext:
        """Asks the nodes that may run instances."""
        cluster = context.view.cluster
        unit = storage_unit(cluster)
        units = [unit] if unit is not None else []
        if Need.SPINDLES in needs and unit is not None and unit.type == StorageType.LVM_VG:
            units.append(StorageUnit(StorageType.LVM_PV.value, unit.name))
        nodes = [node for node in rows if node.vm_capable]
        hypervisors = [hypervisor.value for hypervisor in cluster.enabled_hypervisors[:1]]
        asking = [
            node_facts(self.rpc, members, hypervisors, [each.of(exclusive) for each in units])
            for exclusive, members in by_exclusiveness(context.view, nodes).items()
        ]
        answers = await gatherResults(map(Deferred.fromCoroutine, asking), consumeErrors=True)
        facts = {name: outcome for answer in answers for name, outcome in answer.items()}
        return NodeContext(context.view, facts, unit.type if unit is not None else None)


def by_exclusiveness(view: View, nodes: Sequence[Node]) -> Mapping[bool, Sequence[Node]]:
    """Nodes with, and without, exclusive storage; a kind that there is none of is left out."""
    found: dict[bool, list[Node]] = {}
    for node in nodes:
        exclusive = is_exclusive(view.cluster, view.config.nodegroups.get(node.group), node)
        found.setdefault(exclusive, []).append(node)
    return found


def storage_unit(cluster: Cluster) -> StorageUnit | None:
    """The pool of the first enabled template that has one of known size."""
    for template in map(TEMPLATES.__getitem__, cluster.enabled_disk_templates):
        if name := pool_of(template, cluster):
            return StorageUnit(template.storage.value, name)
    return None
