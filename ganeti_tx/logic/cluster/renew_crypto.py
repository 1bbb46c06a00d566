"""Replacing the cluster's keys while everybody goes on (doc/design/renewing-keys.rst)."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.cluster.everywhere import bring_to_all
from ganeti_tx.logic.cluster.renew_ssh import SshRenewal, ssh_renewal
from ganeti_tx.logic.node.pool import certificate_digests
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import coming, server_key
from ganeti_tx.model.node_files import AUTHORITY
from ganeti_tx.model.opcodes import OpClusterRenewCrypto
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.cluster import ClusterCopies
from ganeti_tx.rpc.calls.keys import IssuedKeys, KeysForget, KeysIssue, KeysRapi, KeysTrust, KeysUse, NodeTakeKeys

SEND = "have all nodes have the keys that the master has"
SETTLE = "know nodes by the certificates that they have"
TRUST, USE = "have all nodes trust what comes", "have all nodes use it"
EXPECT = "have all nodes know the certificates that come"
ALONE = "know nodes by their new certificates alone"
FORGET = "have all nodes forget what was before"
#: Seconds within which confd has read what it is to accept.
CONFD_READS = 2.0


def give(node: Node) -> str:
    """The title of the step in which a node is given its certificates."""
    return f"give node {node.name} its new certificates"


class LUClusterRenewCrypto(LogicalUnit[OpClusterRenewCrypto]):
    """Have new keys trusted beside the present ones, then used, then the former ones forgotten: at no moment is anybody cut off.

    A job that ends in the midst leaves both trusted; the next one takes up what it finds.
    """

    _cluster: Cluster
    _master: Node
    #: All that are not offline.
    _nodes: Sequence[Node]
    _ssh: SshRenewal | None

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """No node comes or goes, and nothing is copied between two that would each trust something else."""
        return (on_all(level, Mode.EXCLUSIVE),) if level is Level.NODE else ()

    @property
    def _certificates(self) -> bool:
        return self.op.node_certificates or self.op.cluster_certificate

    @property
    def _shared(self) -> bool:
        """Whether something is replaced that all nodes have alike."""
        return self.op.cluster_certificate or self.op.confd_hmac_key

    @property
    def _unsettled(self) -> bool:
        """Whether a renewal has ended in the midst, or a node is known by the authority's word only."""
        known = self._cluster.candidate_certs
        return bool(coming(known)) or any(server_key(node.uuid) not in known for node in self._nodes)

    def step(self, title: str, *undos: Undo) -> AbstractAsyncContextManager[None]:
        """See `Parts`; it is told if the operator wants to hear more."""
        if self.op.verbose:
            self.info(f"* {title}")
        return super().step(title, *undos)

    async def check(self) -> None:
        """Every node that is not offline answers, and knows what it will be told."""
        self._cluster = await self.config.cluster()
        self._master = await self.config.node(self._cluster.master_node)
        nodes = sorted(await self.config.nodes(), key=lambda node: node.name)
        self._nodes = [node for node in nodes if not node.offline]
        told = await self.nodes.call_many(self._nodes, ClusterCopies())
        faults = []
        for node in self._nodes:
            if (error := told[node.name].error) is not None:
                faults.append(str(error))
            elif AUTHORITY.path not in (told[node.name].get().files or {}):
                faults.append(f"node {node.name} runs an older version of this program")
        if faults:
            raise OpPrereqError(
                f"nothing was changed, as each node must get the new keys, or be marked offline: {'; '.join(faults)}",
                ECode.ENVIRON,
            )
        self._ssh = ssh_renewal(self, self.op, self._cluster, self._nodes) if self.op.renew_ssh_keys else None
        left = [node.name for node in nodes if node.offline]
        if left and self.op.cluster_certificate:
            self.warn(
                f"offline, and so without the new authority: {', '.join(left)}; 'gnt-node add --readd' sets such a node up "
                "when it is back"
            )

    def plan(self) -> Plan:
        """First what all nodes have alike is brought into line, and what was begun before; then each kind in its three steps."""
        names = tuple(node.name for node in self._nodes)
        steps = [PlannedStep(SEND, names, ("cluster",))]
        if self._unsettled:
            steps.append(PlannedStep(SETTLE, names, ("cluster",)))
        if self._shared:
            steps += [PlannedStep(TRUST, names, ("cluster",)), PlannedStep(USE, names, ("cluster",))]
        if self._certificates:
            steps.append(PlannedStep(EXPECT, names, ("cluster",)))
            steps += [PlannedStep(give(node), (node.name,), (f"node {node.name}",)) for node in self._nodes]
            steps.append(PlannedStep(ALONE, names, ("cluster",)))
        if self._shared:
            steps.append(PlannedStep(FORGET, names, ("cluster",)))
        return [*steps, *(self._ssh.steps() if self._ssh is not None else ())]

    async def execute(self) -> None:
        """@raise OpExecError: a node did not get what it shall have; nobody is cut off."""
        async with self.step(SEND):
            await self._bring()
        if self._unsettled:
            async with self.step(SETTLE):
                await self._settle()
        if self._shared:
            await self._use_new()
        if self._certificates:
            await self._give_all()
        if self._shared:
            async with self.step(FORGET):
                call = KeysForget(authority=self.op.cluster_certificate, confd=self.op.confd_hmac_key)
                await self.nodes.call(self._master, call)
                await self._bring()
        if self._ssh is not None:
            await self._ssh.run()

    async def _bring(self) -> None:
        await bring_to_all(self, self._nodes, self._master)

    async def _use_new(self) -> None:
        """All trust it before the first one uses it."""
        authority, confd = self.op.cluster_certificate, self.op.confd_hmac_key
        name, address = self._cluster.cluster_name, self._cluster.master_ip
        async with self.step(TRUST):
            call = KeysTrust(cluster_name=name, authority=authority, confd=confd)
            await self.nodes.call(self._master, call)
            await self._bring()
            if confd:
                await self.pause(CONFD_READS)
        async with self.step(USE):
            await self.nodes.call(self._master, KeysUse(authority=authority, confd=confd))
            if authority and not await self.nodes.call(self._master, KeysRapi(cluster_name=name, master_ip=address)):
                self.info("The Remote API's certificate is not of the cluster's own authority and stays as it is")
            await self._bring()

    async def _give_all(self) -> None:
        """Everybody knows a node's new certificates before it has them, and forgets the former when it has shown them."""
        issued: dict[str, IssuedKeys] = {}
        async with self.step(EXPECT):
            for node in self._nodes:
                call = KeysIssue(node_name=node.name, addresses=[node.primary_ip])
                issued[node.uuid] = await self.nodes.call(self._master, call)
            await self.config.expect_certificates(
                {uuid: each.client_digest for uuid, each in issued.items()},
                {uuid: each.server_digest for uuid, each in issued.items()},
            )
            await self._bring()
        for node in self._nodes:
            async with self.step(give(node)):
                keys = issued[node.uuid]
                await self.nodes.call(node, NodeTakeKeys(client=keys.client, server=keys.server))
        async with self.step(ALONE):
            await self._settle()

    async def _settle(self) -> None:
        """What each node says that it has; a connection to it vouches for that."""
        clients: dict[str, str] = {}
        servers: dict[str, str] = {}
        for node in self._nodes:
            client, server = await certificate_digests(self.nodes, node)
            clients[node.uuid] = client
            if server is not None:
                servers[node.uuid] = server
        await self.config.settle_certificates(clients, servers)
        await self._bring()
