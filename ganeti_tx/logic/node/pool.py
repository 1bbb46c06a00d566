"""Keeping as many master candidates as the cluster wants (design-2.0, master candidate flag)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
from twisted.internet.defer import Deferred, DeferredList

from ganeti_tx.logic.node.roles import Role, lacking, may_be_promoted, with_role
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.node import NodeCryptoTokens
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, RpcError, Target

SSL_TOKEN, SERVER_TOKEN = "ssl", "server"
#: Seconds for a node to tell it; others wait for the locks that are held meanwhile.
TIMEOUT = 30.0
#: Who is promoted turns out then: some do not answer.
FILL_POOL = PlannedStep("fill the pool of master candidates", (), ("nodes that answer",))


@attrs.frozen
class Promotions:
    """Nodes that become candidates, as they will be, and the digests of their certificates by uuid."""

    nodes: Sequence[Node] = ()
    digests: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def uuids(self) -> list[str]:
        """Of the nodes."""
        return [node.uuid for node in self.nodes]

    def first(self, number: int) -> "Promotions":
        """Some of them."""
        nodes = self.nodes[:number]
        return Promotions(nodes, {node.uuid: self.digests[node.uuid] for node in nodes})

    @property
    def names(self) -> list[str]:
        """Of the nodes."""
        return [node.name for node in self.nodes]


async def certificate_digest(rpc: INodeRpc, node: Target) -> str:
    """By which a node's calls are known. @raise RpcError: it does not answer, or does not tell."""
    return (await certificate_digests(rpc, node))[0]


async def certificate_digests(rpc: INodeRpc, node: Target) -> tuple[str, str | None]:
    """By which a node's calls are known, and by which it is known when it is called.

    @raise RpcError: it does not answer, or does not tell.
    """
    tokens = dict(await rpc.call(node, NodeCryptoTokens(), TIMEOUT))
    if SSL_TOKEN not in tokens:
        raise NodeCallError(f"node {node.name} does not tell its certificate's digest")
    return str(tokens[SSL_TOKEN]), tokens.get(SERVER_TOKEN)


def spare_nodes(nodes: Iterable[Node]) -> list[Node]:
    """Those that may be promoted, by name."""
    return sorted(filter(may_be_promoted, nodes), key=lambda node: node.name)


async def promotions_among(parts: Parts, chosen: Sequence[Node]) -> Promotions:
    """The promotion of those that answer, who are all asked at once; the others are warned of."""
    asked = [Deferred.fromCoroutine(certificate_digest(parts.nodes, node)) for node in chosen]
    promoted: list[Node] = []
    digests: dict[str, str] = {}
    answers: list[tuple[bool, Any]] = await DeferredList(asked, consumeErrors=True)
    for node, (answered, told) in zip(chosen, answers, strict=True):
        if answered:
            digests[node.uuid] = told
            promoted.append(with_role(node, Role.CANDIDATE))
        elif told.check(RpcError):
            parts.warn(f"node {node.name} cannot become a master candidate: {told.value}")
        else:
            told.raiseException()
    return Promotions(promoted, digests)


async def find_promotions(parts: Parts, nodes: Iterable[Node], pool_size: int) -> Promotions:
    """Whom to promote so that the pool is full: by name, and only nodes that answer; the others are warned of.

    @param nodes: those that will be there, as they will be; a node that shall not be promoted is left out.
    """
    held = list(nodes)
    wanted = lacking(held, pool_size)
    chosen: list[Node] = []
    digests: dict[str, str] = {}
    for node in spare_nodes(held):
        if len(chosen) == wanted:
            break
        try:
            digests[node.uuid] = await certificate_digest(parts.nodes, node)
        except RpcError as error:
            parts.warn(f"node {node.name} cannot become a master candidate: {error}")
            continue
        chosen.append(with_role(node, Role.CANDIDATE))
    return Promotions(chosen, digests)


async def fill_pool(parts: Parts) -> None:
    """Promote as many nodes as the pool lacks, and say so, in the step FILL_POOL. The locks of all nodes must be held."""
    size = (await parts.config.cluster()).candidate_pool_size
    promotions = await find_promotions(parts, await parts.config.nodes(), size)
    if promotions.nodes:
        async with parts.step(FILL_POOL.title):
            await parts.config.change_nodes(promotions.nodes, promotions.digests)
        tell(parts, promotions)


def tell(parts: Parts, promotions: Promotions) -> None:
    """A line for the operator if anybody was promoted."""
    if promotions.nodes:
        parts.info(f"Promoted nodes to master candidate role: {', '.join(promotions.names)}")
