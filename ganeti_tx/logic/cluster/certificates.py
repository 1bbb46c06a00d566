"""Learning by which certificates nodes are known, where the configuration is from a time before it knew that."""

from collections.abc import Sequence

from ganeti_tx.logic.node.pool import certificate_digests
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import server_key, servers
from ganeti_tx.rpc.interfaces import RpcError


async def unknown_nodes(parts: Parts) -> Sequence[Node]:
    """The nodes that are known only by the authority's word."""
    known = servers((await parts.config.cluster()).candidate_certs)
    return [node for node in await parts.config.nodes() if node.uuid not in known]


async def learn_certificates(parts: Parts) -> None:
    """Ask those that answer; from then on nobody else can answer for them."""
    digests: dict[str, str] = {}
    for node in await unknown_nodes(parts):
        if node.offline:
            continue
        try:
            _own, server = await certificate_digests(parts.nodes, node)
        except RpcError as error:
            parts.warn(f"node {node.name} does not tell its certificate: {error}")
            continue
        if server is not None:
            digests[server_key(node.uuid)] = server
    if digests:
        await parts.config.change_nodes([], digests)
