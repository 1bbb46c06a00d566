"""Other SSH keys for root of the nodes: let in first, then used, then the former ones are let in no more."""

from collections.abc import Mapping, Sequence

import attrs

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.cluster.everywhere import AFTERWARDS, BETWEEN, LOOKS
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpClusterRenewCrypto
from ganeti_tx.model.ssh_keys import BITS, default_bits, next_root_key, root_key
from ganeti_tx.rpc.calls.keys import SshMakeKey, SshUseKey
from ganeti_tx.rpc.calls.node import NodeSshKeys, NodeVerify

MAKE = "make new SSH keys for root, and let them in on all nodes"
USE = "have root use the new SSH keys"
FORGET = "let in the former SSH keys no more"


@attrs.frozen
class SshRenewal:
    """What is to be made, for whom. `nodes`: those that take part in the cluster's SSH set-up and are not offline."""

    parts: Parts
    nodes: Sequence[Node]
    kind: str
    bits: int

    def steps(self) -> list[PlannedStep]:
        """All nodes are touched in each."""
        names = tuple(node.name for node in self.nodes)
        return [PlannedStep(title, names, ("cluster",)) for title in (MAKE, USE, FORGET)]

    async def run(self) -> None:
        """@raise OpExecError: not all nodes did it; nobody is shut out."""
        made: dict[str, str] = {}
        async with self.parts.step(MAKE):
            await self._settle(await self._in_use())
            for node in self.nodes:
                call = SshMakeKey(root_type=self.kind, root_bits=self.bits)
                made[node.uuid] = await self.parts.nodes.call(node, call)
            await self.parts.config.expect_root_keys(made)
            await self._let_in()
        async with self.parts.step(USE):
            for node in self.nodes:
                await self.parts.nodes.call(node, SshUseKey(root_type=self.kind))
        async with self.parts.step(FORGET):
            if wrong := [node.name for node in self.nodes if await self._own(node, self.kind) != made[node.uuid]]:
                raise OpExecError(
                    f"root has another SSH key than the one that was made on {', '.join(wrong)}; {AFTERWARDS}"
                )
            await self.parts.config.settle_root_keys(made, self.kind, self.bits)
            await self._let_in()

    async def _in_use(self) -> Mapping[str, str]:
        """Of those keys that an earlier renewal has made the ones that root uses already."""
        cluster = await self.parts.config.cluster()
        known = cluster.candidate_certs
        waiting = [node for node in self.nodes if next_root_key(node.uuid) in known]
        kinds = {self.kind, cluster.ssh_key_type}
        return {
            node.uuid: known[next_root_key(node.uuid)]
            for node in waiting
            if known[next_root_key(node.uuid)] in [await self._own(node, kind) for kind in sorted(kinds)]
        }

    async def _settle(self, used: Mapping[str, str]) -> None:
        cluster = await self.parts.config.cluster()
        if used:
            await self.parts.config.settle_root_keys(used, cluster.ssh_key_type, cluster.ssh_key_bits)

    async def _own(self, node: Node, kind: str) -> str | None:
        """Root's key of a type, as the node tells; one is made where there is none."""
        told = await self.parts.nodes.call(node, NodeSshKeys(root_type=kind, root_bits=self.bits))
        return told.root

    async def _let_in(self) -> None:
        """Return when each node's files are as the configuration has them. @raise OpExecError: some are not."""
        lacking: list[str] = []
        for look in range(LOOKS):
            if look:
                await self.parts.pause(BETWEEN)
            await self.parts.config.when_distributed()
            setup = await self.parts.config.ssh_setup()
            assert setup is not None, "its nodes have keys"
            lacking = []
            for node in self.nodes:
                call = NodeVerify(checks=setup.checks(node), cluster_name="")
                outcome = (await self.parts.nodes.call_many([node], call))[node.name]
                if outcome.error is not None or any(outcome.get().values()):
                    lacking.append(node.name)
            if not lacking:
                return
        raise OpExecError(f"not all nodes let in the SSH keys that they should: {', '.join(lacking)}; {AFTERWARDS}")


def ssh_renewal(parts: Parts, op: OpClusterRenewCrypto, cluster: Cluster, nodes: Sequence[Node]) -> SshRenewal:
    """@raise OpPrereqError: the cluster does not set up SSH, or there are no such keys. `nodes` are not offline."""
    if not cluster.modify_ssh_setup:
        raise OpPrereqError("this cluster leaves root's SSH keys to the administrator (--no-ssh-init)", ECode.STATE)
    kind = op.ssh_key_type.value if op.ssh_key_type is not None else cluster.ssh_key_type
    usual = cluster.ssh_key_bits if kind == cluster.ssh_key_type else default_bits(kind)
    bits = op.ssh_key_bits if op.ssh_key_bits is not None else usual
    if bits not in BITS[kind]:
        allowed = BITS[kind]
        words = f"{allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(str, allowed))
        raise OpPrereqError(f"a {kind} key cannot have {bits} bits; allowed: {words}", ECode.INVAL)
    known = cluster.candidate_certs
    return SshRenewal(parts, [node for node in nodes if root_key(node.uuid) in known], kind, bits)
