"""The keys of simulated clusters and their nodes."""

from functools import lru_cache

from ganeti_tx.bootstrap.keys import NodeKeys, new_cluster_keys, node_keys
from ganeti_tx.runtime.certificates import Identity

CLUSTER_NAME = "cluster.example.com"
FIRST = "node1.example.com"


@lru_cache
def cluster_keys() -> tuple[Identity, NodeKeys]:
    """The authority of all simulated clusters, and the first node's keys; making keys takes longer than a test."""
    return new_cluster_keys(CLUSTER_NAME, FIRST, ["192.0.2.1"])


@lru_cache
def keys_of(name: str, address: str) -> NodeKeys:
    """A node's keys."""
    authority, first = cluster_keys()
    if name == FIRST:
        return first
    return node_keys(authority, name, [address], first.shared)
