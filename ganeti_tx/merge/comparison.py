"""That no node and no instance gets lost in a merge."""

from collections.abc import Iterable, Sequence

from attrs import frozen

from ganeti_tx.merge.other import Other
from ganeti_tx.merge.own import OwnCluster


@frozen
class Names:
    """Those of nodes and instances."""

    nodes: frozenset[str]
    instances: frozenset[str]


def expected(own: OwnCluster, others: Iterable[Other]) -> Names:
    """What there is in all clusters. @raise GanetiError: the master daemon does not answer."""
    nodes, instances = own.names()
    for other in others:
        nodes |= {node.name for node in other.config.nodes.values()}
        instances |= {each.name for each in other.config.instances.values() if not each.forthcoming}
    return Names(frozenset(nodes), frozenset(instances))


def missing(own: OwnCluster, wanted: Names) -> Sequence[str]:
    """What is not in this cluster, a line each. @raise GanetiError: the master daemon does not answer."""
    nodes, instances = own.names()
    return [
        *(f"node {name} is not there any more" for name in sorted(wanted.nodes - nodes)),
        *(f"instance {name} is not there any more" for name in sorted(wanted.instances - instances)),
    ]
