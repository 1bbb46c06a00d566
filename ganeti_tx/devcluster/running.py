"""Which daemons of a devcluster run, and which should."""

from collections.abc import Iterator

from ganeti_tx.devcluster.layout import DevNode, Layout
from ganeti_tx.devcluster.processes import daemon_of, node_of
from ganeti_tx.runtime.daemon_names import MASTER, MASTER_PARTS, NODE, ON_ALL_NODES, RAPI
from ganeti_tx.runtime.root_processes import processes_of


def running_daemons(layout: Layout) -> dict[DevNode, set[str]]:
    """The daemons of each node."""
    running: dict[DevNode, set[str]] = {node: set() for node in layout.nodes}
    for node, daemon in all_processes(layout):
        if daemon is not None:
            running[node].add(daemon)
    return running


def other_processes(layout: Layout) -> list[DevNode]:
    """The node of each process that is no daemon: jobs and instances."""
    return [node for node, daemon in all_processes(layout) if daemon is None]


def missing_daemons(layout: Layout) -> dict[DevNode, list[str]]:
    """What has to be started on each node, in order."""
    missing = {}
    for node, running in running_daemons(layout).items():
        wanted = [NODE]
        if node == layout.master:
            wanted += reversed(MASTER_PARTS) if running & set(MASTER_PARTS) else [MASTER]
            wanted.append(RAPI)
        wanted += ON_ALL_NODES
        missing[node] = [daemon for daemon in wanted if daemon not in running]
    return missing


def all_processes(layout: Layout) -> Iterator[tuple[DevNode, str | None]]:
    """The node of each process of the cluster, and which daemon it is."""
    nodes = {node.root: node for node in layout.nodes}
    for process in processes_of(layout.root):
        root = node_of(process, list(nodes))
        if root is not None:
            yield nodes[root], daemon_of(process)
