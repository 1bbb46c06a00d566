"""Another name and address for the cluster."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError, ResolverError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.ip_family import primary_fault
from ganeti_tx.model.master_network import master_network
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpClusterRename
from ganeti_tx.rpc.calls.keys import KeysRapi
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp

GIVE_UP, TAKE = "give the cluster's former address up", "take the cluster's new address"
RENAME = "give the cluster its new name and address"
CERTIFICATE = "have the Remote API's certificate name the cluster"
SEND = "send the certificate to all nodes"


class LUClusterRename(LogicalUnit[OpClusterRename]):
    """Rename the cluster. What fails on the way is taken back, so that the cluster has one of its names and addresses, whole."""

    hook = Hook(
        "cluster-rename",
        HookObject.CLUSTER,
        pre=HookNodes.MASTER,
        post=HookNodes.OBJECT | HookNodes.OTHERS,
        asked={"NEW_NAME": "name"},
    )
    _before: Cluster
    _after: Cluster
    _master: Node

    async def expand_names(self) -> None:
        """The full name. @raise OpPrereqError: nobody knows it."""
        try:
            name, self._address = await self.context.resolve(self.op.name)
        except ResolverError as error:
            raise OpPrereqError(f"the given name ({self.op.name}) does not resolve: {error}", ECode.RESOLVER) from None
        self.op = replace(self.op, name=name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Nobody else changes the cluster's address, or hands out its certificates."""
        return (on_all(level, Mode.EXCLUSIVE),) if level is Level.NODE else ()

    async def check(self) -> None:
        """Something changes, and nobody has the new address."""
        before = await self.config.cluster()
        self._before, self._after = before, replace(before, cluster_name=self.op.name, master_ip=self._address)
        self._master = await self.config.node(before.master_node)
        if not self._is_new and before.cluster_name == self.op.name:
            raise OpPrereqError("neither the name nor the IP address of the cluster has changed", ECode.INVAL)
        if not self._is_new:
            return
        if (fault := primary_fault(self._address, before.primary_ip_family)) is not None:
            raise OpPrereqError(f"the given cluster IP address {fault}", ECode.INVAL)
        for node in await self.config.nodes():
            if self._address in (node.primary_ip, node.secondary_ip):
                raise OpPrereqError(
                    f"the given cluster IP address ({self._address}) is node {node.name}'s", ECode.NOTUNIQUE
                )
        if await self.context.ping(self._address):
            raise OpPrereqError(
                f"the given cluster IP address ({self._address}) is reachable on the network", ECode.NOTUNIQUE
            )

    @property
    def _is_new(self) -> bool:
        return self._before.master_ip != self._address

    async def hook_values(self) -> Mapping[str, object]:
        """Both names."""
        return {**await super().hook_values(), "OP_TARGET": (await self.config.cluster()).cluster_name}

    def plan(self) -> Plan:
        """The address is given up and taken only if it is another."""
        master = (self._master.name,)
        give_up = PlannedStep(GIVE_UP, master, (f"address {self._before.master_ip}",))
        take = PlannedStep(TAKE, master, (f"address {self._address}",))
        change = [
            PlannedStep(RENAME, (), ("cluster",)),
            PlannedStep(CERTIFICATE, master, ("cluster",)),
            PlannedStep(SEND, (), ("cluster",)),
        ]
        return [give_up, *change, take] if self._is_new else change

    async def execute(self) -> str:
        """Gives the new name."""
        before, after, master = self._before, self._after, self._master
        if self._is_new:
            async with self.step(GIVE_UP, on_node("take the cluster's former address", master, activation(before))):
                await self.nodes.call(master, deactivation(before))
        await self._rename()
        await self._certify()
        if self._is_new:
            async with self.step(TAKE, on_node("give the cluster's new address up", master, deactivation(after))):
                await self.nodes.call(master, activation(after))
        return after.cluster_name

    async def _rename(self) -> None:
        before, after = self._before, self._after
        back = in_config(
            "give the cluster its former name", IConfig.rename_cluster, before.cluster_name, before.master_ip
        )
        async with self.step(RENAME, back):
            await self.config.rename_cluster(after.cluster_name, after.master_ip)
        await self.config.when_distributed()

    async def _certify(self) -> None:
        """One that the administrator has put there stays."""
        former = on_node("have the certificate name the cluster as before", self._master, certificate(self._before))
        send = in_config("send the certificate to all nodes again", IConfig.redistribute)
        async with self.step(CERTIFICATE, send, former):
            replaced = await self.nodes.call(self._master, certificate(self._after))
        if not replaced:
            self.info(
                "The Remote API's certificate is not of the cluster's own authority and stays as it is; 'gnt-cluster "
                "renew-crypto' replaces it"
            )
            return
        async with self.step(SEND):
            await self.config.redistribute()
        await self.config.when_distributed()
        for node, why in await self.config.undistributed():
            if node != self._master.name:
                self.warn(f"node {node} does not get it for now, and is tried again: {why}")


def activation(cluster: Cluster) -> NodeActivateMasterIp:
    """The call by which the master takes the cluster's address."""
    external = cluster.use_external_mip_script
    return NodeActivateMasterIp(master_params=master_network(cluster), use_external_mip_script=external)


def deactivation(cluster: Cluster) -> NodeDeactivateMasterIp:
    """The call by which it gives the address up."""
    external = cluster.use_external_mip_script
    return NodeDeactivateMasterIp(master_params=master_network(cluster), use_external_mip_script=external)


def certificate(cluster: Cluster) -> KeysRapi:
    """The call by which the Remote API's certificate follows the cluster's name."""
    return KeysRapi(cluster_name=cluster.cluster_name, master_ip=cluster.master_ip)
