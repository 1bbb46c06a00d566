"""What nodes' SSH is told, made from the configuration: known hosts, and whose root is let in."""

from ganeti_tx.config.ssconf import ssh_port
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.ssh_keys import host_key, next_root_key, root_key
from ganeti_tx.model.ssh_setup import SshSetup

DEFAULT_PORT = 22
#: Behind the name of a node whose root is let in with the key that it has and with the one that it is going to have.
COMING = ":next"


def ssh_setup(config: ConfigData) -> SshSetup | None:
    """None when nothing is known of any node's SSH.

    A node that was added with --no-node-setup has no key of root's in the configuration, and a cluster that was made with
    --no-ssh-init none at all.
    """
    facts = config.cluster.candidate_certs
    nodes = sorted(config.nodes.values(), key=lambda node: node.name)
    known = "".join(
        f"{names(config, node)} {key}\n" for node in nodes for key in facts.get(host_key(node.uuid), "").splitlines()
    )
    own = {node.uuid: facts[root_key(node.uuid)] for node in nodes if root_key(node.uuid) in facts}
    if not known and not own:
        return None
    if not config.cluster.modify_ssh_setup:
        return SshSetup(known, {}, frozenset())
    candidates = [node for node in nodes if node.master_candidate and node.uuid in own]
    authorized = {node.name: own[node.uuid] for node in candidates}
    coming = {f"{node.name}{COMING}": key for node in candidates if (key := facts.get(next_root_key(node.uuid)))}
    return SshSetup(known, authorized | coming, frozenset(own))


def names(config: ConfigData, node: Node) -> str:
    """Under which a node is known: its name, its address, and the cluster's name, which Ganeti's own programs ask for."""
    port = ssh_port(config, node)
    own = [node.name, node.primary_ip]
    elsewhere = [f"[{name}]:{port}" for name in own] if port != DEFAULT_PORT else []
    return ",".join([*own, *elsewhere, config.cluster.cluster_name])
