"""Learning a node's SSH keys, from which known hosts and authorized keys are made (doc/design/ssh.rst)."""

from collections.abc import Mapping

from ganeti_tx.errors import GanetiError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.node import Node
from ganeti_tx.model.ssh_keys import MAX_HOST_KEYS, host_key, public_key, root_key
from ganeti_tx.rpc.calls.node import NodeSshKeys, SshKeys
from ganeti_tx.rpc.interfaces import RpcError

AGAIN = "'gnt-cluster redist-conf' asks again"


async def learn_from(parts: Parts, node: Node, *, set_up: bool) -> None:
    """Put a node's keys into the configuration, as far as it tells them; what is missing is warned of.

    @param set_up: whether its root gets a key and lets in the master candidates' roots, if the cluster does that at all.
    """
    cluster = await parts.config.cluster()
    own = set_up and cluster.modify_ssh_setup
    call = NodeSshKeys(root_type=cluster.ssh_key_type if own else None, root_bits=cluster.ssh_key_bits)
    try:
        told = await parts.nodes.call(node, call)
        await parts.config.change_nodes([], facts_of(node, told))
    except RpcError as error:
        parts.warn(f"the SSH keys of node {node.name} are not known: {error}; {AGAIN}")
    except GanetiError as error:  # the node is one of the cluster's all the same
        parts.warn(f"the SSH keys of node {node.name} are not kept: {error}; {AGAIN}")
    else:
        if told.fault:
            parts.warn(f"root of node {node.name} has no SSH key: {told.fault}")


def facts_of(node: Node, told: SshKeys) -> Mapping[str, str]:
    """What the configuration keeps; what is no key is left out."""
    host = [key for key in map(public_key, told.host[:MAX_HOST_KEYS]) if key is not None]
    root = None if told.root is None else public_key(told.root)
    return {
        **({host_key(node.uuid): "\n".join(host)} if host else {}),
        **({root_key(node.uuid): root} if root is not None else {}),
    }


async def learn_ssh_keys(parts: Parts) -> None:
    """Ask the nodes of which nothing is known: they were added before anybody asked, or could not tell."""
    known = (await parts.config.cluster()).candidate_certs
    for node in await parts.config.nodes():
        if not node.offline and host_key(node.uuid) not in known:
            await learn_from(parts, node, set_up=True)
