"""Simple configuration: the few facts that every node keeps in plain files, made from the configuration."""

from collections.abc import Iterable

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import expected_callers, expected_servers
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.params.node import fill_ndparams
from ganeti_tx.model.versions import RELEASE_VERSION

NO_MASTER = "NO MASTER"


def ssconf_values(config: ConfigData) -> dict[str, str]:
    """Every key with its value, without the final newline (Ganeti 3.0 configuration table, ssconf)."""
    nodes = sorted(config.nodes.values(), key=lambda node: node.name)
    return {
        **cluster_values(config),
        **node_values(config, nodes),
        **{f"hvparams_{hypervisor.value}": hypervisor_lines(config, hypervisor) for hypervisor in Hypervisor},
        "instance_list": lines(sorted(instance.name for instance in config.instances.values())),
        "networks": lines(f"{uuid} {name}" for name, uuid in named(config.networks.values())),
        "nodegroups": lines(f"{uuid} {name}" for name, uuid in named(config.nodegroups.values())),
        "release_version": RELEASE_VERSION,
    }


def cluster_values(config: ConfigData) -> dict[str, str]:
    """What the cluster object tells."""
    cluster = config.cluster
    master = config.nodes.get(cluster.master_node)
    certificates = sorted(expected_callers(cluster.candidate_certs))
    return {
        "cluster_name": cluster.cluster_name,
        "cluster_tags": lines(sorted(cluster.tags)),
        "enabled_user_shutdown": str(cluster.enabled_user_shutdown),
        "file_storage_dir": cluster.file_storage_dir,
        "gluster_storage_dir": cluster.gluster_storage_dir,
        "hypervisor_list": lines(hypervisor.value for hypervisor in cluster.enabled_hypervisors),
        "maintain_node_health": str(cluster.maintain_node_health),
        "master_candidates_certs": lines(f"{uuid}={digest}" for uuid, digest in certificates),
        "master_ip": cluster.master_ip,
        "master_netdev": cluster.master_netdev,
        "master_netmask": str(cluster.master_netmask),
        "master_node": NO_MASTER if master is None else master.name,
        "primary_ip_family": str(cluster.primary_ip_family),
        "shared_file_storage_dir": cluster.shared_file_storage_dir,
        "uid_pool": lines(str(low) if low == high else f"{low}-{high}" for low, high in cluster.uid_pool),
    }


def node_values(config: ConfigData, nodes: list[Node]) -> dict[str, str]:
    """What the nodes tell, in the order given."""
    candidates = [node for node in nodes if node.master_candidate]
    digests = [
        (node.name, each) for node in nodes for each in expected_servers(config.cluster.candidate_certs, node.uuid)
    ]
    return {
        "master_candidates": lines(node.name for node in candidates),
        "master_candidates_ips": lines(node.primary_ip for node in candidates),
        "node_certs": lines(f"{name}={digest}" for name, digest in digests),
        "node_list": lines(node.name for node in nodes),
        "node_primary_ips": lines(f"{node.name} {node.primary_ip}" for node in nodes),
        "node_secondary_ips": lines(f"{node.name} {node.secondary_ip}" for node in nodes),
        "node_vm_capable": lines(f"{node.name}={node.vm_capable}" for node in nodes),
        "offline_nodes": lines(node.name for node in nodes if node.offline),
        "online_nodes": lines(node.name for node in nodes if not node.offline),
        "ssh_ports": lines(f"{node.name}={ssh_port(config, node)}" for node in nodes),
    }


def hypervisor_lines(config: ConfigData, hypervisor: Hypervisor) -> str:
    """A hypervisor's parameters as the cluster has them, filled."""
    filled = fill_hvparams(config.cluster, hypervisor)
    return lines(f"{name}={'' if value is None else value}" for name, value in sorted(filled.items()))


def ssh_port(config: ConfigData, node: Node) -> object:
    """Where a node's SSH daemon listens."""
    return fill_ndparams(config.cluster, config.nodegroups.get(node.group), node)["ssh_port"]


def named(held: Iterable[object]) -> list[tuple[str, str]]:
    """Names and uuids in the order of names."""
    return sorted((str(getattr(each, "name")), str(getattr(each, "uuid"))) for each in held)  # noqa: B009


def lines(words: Iterable[str]) -> str:
    """One word a line."""
    return "\n".join(words)
