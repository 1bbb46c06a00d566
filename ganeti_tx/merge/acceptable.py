"""What another cluster says of itself is taken only when it can be: its names and ports become words of commands here."""

from collections.abc import Collection, Iterator

from ganeti_tx.errors import GanetiError, ParameterError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.host_name import host_name_fault
from ganeti_tx.model.ip_family import primary_fault, secondary_fault
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.node import LAST_PORT, NodeParams, fill_ndparams, typed_ndparams

#: How many, and how much, of what is wrong is shown.
MAX_NAMED = 5
SHOWN = 100


def check_configuration(address: str, config: ConfigData) -> None:
    """@param address: whose it is, as it was typed. @raise GanetiError: the first fault"""
    for fault in faults(config):
        raise GanetiError(f"{address}: its configuration cannot be taken: {fault}")


def check_instances(address: str, config: ConfigData, names: Collection[str]) -> None:
    """What is said of instances is said of its own. @raise GanetiError: one of these is none."""
    strange = sorted(set(names) - {each.name for each in config.instances.values()})
    if strange:
        shown = ", ".join(repr(name[:SHOWN]) for name in strange[:MAX_NAMED])
        raise GanetiError(f"{address}: names {len(strange)} instance(s) that its configuration has not: {shown}")


def faults(config: ConfigData) -> Iterator[str]:
    """Why this cannot be the configuration of a cluster whose nodes are to be reached, a line each."""
    cluster = config.cluster
    yield from told("cluster", host_name_fault(cluster.cluster_name))
    yield from told("cluster, address", primary_fault(cluster.master_ip, cluster.primary_ip_family))
    yield from port_faults("cluster, free ports", cluster.tcpudp_port_pool)
    if cluster.master_node not in config.nodes:
        yield f"the master node {cluster.master_node[:SHOWN]!r} is none of its {len(config.nodes)} node(s)"
    for uuid, node in config.nodes.items():
        if node.uuid != uuid:
            yield f"node {node.uuid[:SHOWN]!r} stands under {uuid[:SHOWN]!r}"
        yield from node_faults(config, node)
    for instance in config.instances.values():
        yield from told("instance", host_name_fault(instance.name))
        if instance.network_port is not None:
            yield from port_faults(f"instance {instance.name}", [instance.network_port])
    for disk in config.disks.values():
        yield from port_faults(f"disk {disk.uuid[:SHOWN]!r}", disk.ports)


def node_faults(config: ConfigData, node: Node) -> Iterator[str]:
    """Why it cannot be reached."""
    yield from told("node", host_name_fault(node.name))
    what = f"node {node.name}"
    yield from told(f"{what}, primary address", primary_fault(node.primary_ip, config.cluster.primary_ip_family))
    yield from told(f"{what}, secondary address", secondary_fault(node.secondary_ip))
    try:
        port = node_parameters(config, node).ssh_port
    except ParameterError as error:
        yield f"{what}: {error}"
    else:
        yield from port_faults(f"{what}, ssh_port", [port])


def node_parameters(config: ConfigData, node: Node) -> NodeParams:
    """Those of a node, filled. @raise ParameterError: they are none."""
    return typed_ndparams(fill_ndparams(config.cluster, config.nodegroups.get(node.group), node))


def port_faults(what: str, ports: Collection[int]) -> Iterator[str]:
    """Numbers that are no ports."""
    for port in ports:
        if not 0 < port <= LAST_PORT:
            yield f"{what}: {port} is no port from 1 to {LAST_PORT}"


def told(what: str, fault: str | None) -> Iterator[str]:
    """A line if there is one."""
    if fault is not None:
        yield f"{what}: {fault}"
