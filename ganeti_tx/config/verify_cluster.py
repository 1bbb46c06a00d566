"""What is wrong with the cluster object, the nodes and the node groups of a configuration."""

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import to_builtins

from ganeti_tx.config.faults import refused, tag_faults, tracked_faults
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.ip_family import primary_fault, secondary_fault
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import callers, servers
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.own_ports import FIRST_PORT, LAST_PORT
from ganeti_tx.model.params.backend import fill_beparams, typed_beparams
from ganeti_tx.model.params.disk import check_diskparams
from ganeti_tx.model.params.hypervisor import check_hvparams, fill_hvparams, typed_hvparams
from ganeti_tx.model.params.ipolicy import check_ipolicy
from ganeti_tx.model.params.nic import fill_nicparams, typed_nicparams
from ganeti_tx.model.params.node import fill_ndparams, typed_ndparams
from ganeti_tx.model.settings.checks import MAC_PREFIX
from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.daemon_names import MASTER

MODIFY = "correct it with 'gnt-cluster modify'"


def cluster_faults(config: ConfigData) -> list[str]:
    """What is wrong with the cluster object itself."""
    cluster = config.cluster
    what = f"cluster {cluster.cluster_name}"
    return [
        *tracked_faults(what, cluster.uuid, cluster, cluster.uuid),
        *tag_faults(what, cluster.tags),
        *master_faults(config, what),
        *choice_faults(cluster, what),
        *default_group_faults(config, what),
        *port_faults(cluster, what),
        *parameter_faults(cluster, what),
    ]


def master_faults(config: ConfigData, what: str) -> Iterator[str]:
    """The master must be a node that can be one."""
    master = config.nodes.get(config.cluster.master_node)
    if master is None:
        yield f"{what}: the master node {config.cluster.master_node} is not in the configuration; {FAILOVER}"
    elif not master.master_candidate:
        yield f"node {master.name}: is the master but no master candidate; run 'gnt-cluster redist-conf' or {FAILOVER}"
    certificates = config.cluster.candidate_certs
    for uuid in {**callers(certificates), **servers(certificates)}:
        if uuid not in config.nodes:
            yield f"{what}: holds a certificate of the unknown node {uuid}; run 'gnt-cluster renew-crypto'"


FAILOVER = "run 'gnt-cluster master-failover' on a master candidate"


def choice_faults(cluster: Cluster, what: str) -> Iterator[str]:
    """What must be one of a few, or be there at all."""
    if not cluster.cluster_name:
        yield f"{what}: has no name; set one with 'gnt-cluster rename'"
    if not cluster.enabled_hypervisors:
        yield f"{what}: no hypervisor is enabled, allowed are {', '.join(Hypervisor)}; {MODIFY}"
    if not cluster.enabled_disk_templates:
        yield f"{what}: no disk template is enabled; {MODIFY}"
    if not MAC_PREFIX.fullmatch(cluster.mac_prefix):
        yield f"{what}: MAC prefix {cluster.mac_prefix!r} is not of the form aa:bb:cc; {MODIFY}"
    if (fault := primary_fault(cluster.master_ip, cluster.primary_ip_family)) is not None:
        yield f"{what}: master address {fault}; give the cluster another with 'gnt-cluster rename'"
    if cluster.candidate_pool_size < 1:
        yield f"{what}: candidate pool size {cluster.candidate_pool_size} is below 1; {MODIFY}"
    for low, high in cluster.uid_pool:
        if not 0 <= low <= high:
            yield f"{what}: user id range {low}-{high} is empty; {MODIFY}"


def default_group_faults(config: ConfigData, what: str) -> Iterator[str]:
    """The default group must be there."""
    if config.cluster.default_group not in config.nodegroups:
        yield f"{what}: the default node group {config.cluster.default_group!r} is not in the configuration; {MODIFY}"


def port_faults(cluster: Cluster, what: str) -> Iterator[str]:
    """The pool of ports."""
    if cluster.highest_used_port > LAST_PORT:
        yield f"{what}: highest used port {cluster.highest_used_port} is above {LAST_PORT}; correct it in config.data"
    if len(set(cluster.tcpudp_port_pool)) != len(cluster.tcpudp_port_pool):
        yield f"{what}: the pool of free ports holds a port twice; correct it in config.data"
    for port in cluster.tcpudp_port_pool:
        if not FIRST_PORT <= port <= cluster.highest_used_port:
            yield (
                f"{what}: free port {port} is not between {FIRST_PORT} and the highest used port "
                f"{cluster.highest_used_port}; correct it in config.data"
            )


def parameter_faults(cluster: Cluster, what: str) -> Iterator[str]:
    """Parameters that do not fit their declarations."""
    for hypervisor in cluster.hvparams:
        yield from refused(what, MODIFY, partial(cluster_hvparams, cluster, hypervisor))
    for os, by_hypervisor in cluster.os_hvp.items():
        for hypervisor, params in by_hypervisor.items():
            yield from refused(
                f"{what}, OS {os}",
                "correct it with 'gnt-os modify'",
                partial(check_hvparams, hypervisor, params),
            )
    yield from refused(what, MODIFY, lambda: typed_beparams(fill_beparams(cluster)))
    yield from refused(what, MODIFY, lambda: typed_nicparams(fill_nicparams(cluster)))
    yield from refused(what, MODIFY, lambda: typed_ndparams(fill_ndparams(cluster)))
    yield from refused(what, MODIFY, lambda: check_diskparams(by_word(cluster.diskparams)))
    yield from refused(what, MODIFY, lambda: check_ipolicy(to_builtins(cluster.ipolicy)))


def cluster_hvparams(cluster: Cluster, hypervisor: Hypervisor) -> None:
    """@raise ParameterError: the cluster's parameters of a hypervisor, on top of the built-in ones, do not fit."""
    typed_hvparams(hypervisor, fill_hvparams(cluster, hypervisor))


def group_nicparams(cluster: Cluster, given: Params) -> None:
    """@raise ParameterError: the parameters of a connection, on top of the cluster's, do not fit."""
    typed_nicparams(fill_nicparams(cluster, given))


def by_word(params: Mapping[DiskTemplate, Params]) -> dict[str, Params]:
    """Parameters by the template's word, as they come from outside."""
    return {template.value: given for template, given in params.items()}


def candidate_faults(config: ConfigData) -> list[str]:
    """Whether there are as many master candidates as there should be."""
    able = [node for node in config.nodes.values() if node.master_capable and not node.offline and not node.drained]
    present = sum(node.master_candidate for node in config.nodes.values())
    wanted = min(len(able), config.cluster.candidate_pool_size)
    if present >= wanted:
        return []
    return [
        f"cluster {config.cluster.cluster_name}: has {present} master candidates of {wanted} wanted; promote nodes with "
        "'gnt-node modify -C yes NODE'"
    ]


def node_faults(config: ConfigData, key: str) -> list[str]:
    """What is wrong with one node; nothing if it is not there."""
    node = config.nodes.get(key)
    return [] if node is None else list(faults_of_node(config, key, node))


def faults_of_node(config: ConfigData, key: str, node: Node) -> Iterator[str]:
    """What is wrong with a node."""
    what, modify = f"node {node.name}", f"correct it with 'gnt-node modify {node.name}'"
    yield from tracked_faults(what, key, node, node.uuid)
    yield from tag_faults(what, node.tags)
    group = config.nodegroups.get(node.group)
    if group is None:
        yield f"{what}: its node group {node.group} is not in the configuration; assign it with 'gnt-group assign-nodes'"
    elif key not in group.members:
        yield f"{what}: its node group {group.name} does not list it; {mended_by_restart()}"
    if (fault := primary_fault(node.primary_ip, config.cluster.primary_ip_family)) is not None:
        yield f"{what}: primary address {fault}; add the node again with 'gnt-node add --readd {node.name}'"
    if (fault := secondary_fault(node.secondary_ip)) is not None:
        yield f"{what}: secondary address {fault}; correct it with 'gnt-node modify -s ADDRESS {node.name}'"
    flags = [name for name in ("master_candidate", "drained", "offline") if getattr(node, name)]
    if len(flags) > 1:
        yield f"{what}: cannot be {' and '.join(flags)} at the same time; {modify}"
    if node.master_candidate and not node.master_capable:
        yield f"{what}: is a master candidate but not master capable; {modify}"
    yield from refused(what, modify, lambda: typed_ndparams(fill_ndparams(config.cluster, group, node)))


def group_faults(config: ConfigData, key: str) -> list[str]:
    """What is wrong with one node group; nothing if it is not there."""
    group = config.nodegroups.get(key)
    return [] if group is None else list(faults_of_group(config, key, group))


def faults_of_group(config: ConfigData, key: str, group: NodeGroup) -> Iterator[str]:
    """What is wrong with a node group."""
    what, modify = f"node group {group.name}", f"correct it with 'gnt-group modify {group.name}'"
    yield from tracked_faults(what, key, group, group.uuid)
    yield from tag_faults(what, group.tags)
    for uuid in group.members:
        node = config.nodes.get(uuid)
        if node is None or node.group != key:
            yield f"{what}: lists {uuid}, which is no node of it; {mended_by_restart()}"
    for uuid, params in group.networks.items():
        if uuid not in config.networks:
            yield f"{what}: is connected to the unknown network {uuid}; run 'gnt-network disconnect'"
        yield from refused(what, modify, partial(group_nicparams, config.cluster, params))
    yield from refused(what, modify, lambda: typed_ndparams(fill_ndparams(config.cluster, group)))
    yield from refused(what, modify, lambda: check_diskparams(by_word(group.diskparams)))
    yield from refused(what, modify, lambda: check_ipolicy(to_builtins(group.ipolicy)))


def mended_by_restart() -> str:
    """What to do about what the master daemon puts right when it reads the configuration."""
    return f"'{DaemonControl.here().command('restart', MASTER)}' mends it"
