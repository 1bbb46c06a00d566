"""What a node keeps of an instance beside its disks (variables of its firmware, the state of its TPM) goes along when it moves."""

from collections.abc import Iterable

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import NodeUndo
from ganeti_tx.rpc.calls.instance import InstanceForget
from ganeti_tx.rpc.calls.kept import InstanceKeep, InstanceKept, KeptOwners
from ganeti_tx.rpc.interfaces import Outcome, RpcError

CARRY = "bring what its firmware and TPM keep to its new node"
LEAVE = "remove that from its old node"


def is_kept(view: InstanceView) -> bool:
    """Whether nodes keep something of an instance, as its parameters are."""
    params, keeps = view.spec().hvparams, HYPERVISORS[view.instance.hypervisor].keeps
    return any(params.get(name) for name in keeps)


def may_be_kept(view: InstanceView) -> bool:
    """Whether they may, as its parameters may have been others."""
    return bool(HYPERVISORS[view.instance.hypervisor].keeps)


async def keepers(parts: Parts, view: InstanceView, nodes: Iterable[Node]) -> list[Node]:
    """Those of the nodes that keep something of an instance, its own or not; where one does not tell its parameters count."""
    asked = [node for node in nodes if node.vm_capable and not node.offline] if may_be_kept(view) else []
    told = await parts.nodes.call_many(asked, KeptOwners(hypervisor=view.instance.hypervisor.value)) if asked else {}
    its_own = view.nodes.keys() if is_kept(view) else ()
    return [node for node in asked if keeps(told[node.name], view.instance.uuid, node.uuid in its_own)]


def keeps(told: Outcome[list[str]], uuid: str, otherwise: bool) -> bool:
    """Whether a node has said that it keeps something of an instance, or else what is assumed."""
    return otherwise if told.error is not None else uuid in (told.value or ())


def forgetting(view: InstanceView, node: Node) -> NodeUndo:
    """That a node keeps nothing of an instance."""
    return on_node(f"forget instance {view.instance.name}", node, InstanceForget(instance=view.spec()))


async def forget(parts: Parts, view: InstanceView, node: Node) -> None:
    """From a node which the instance has left: nobody may come to begin with what is old. It is told of if that stays."""
    try:
        await parts.nodes.call(node, InstanceForget(instance=view.spec()))
    except RpcError as error:
        parts.warn(f"what the firmware and the TPM of instance {view.instance.name} kept is still there: {error}")


@define
class KeptState:
    """Of one instance that is stopped and goes to another node. @ivar ignores: what cannot be brought there is lost."""

    parts: Parts
    move: Move
    ignores: bool = False
    #: Whether its old node has something.
    _found: bool = field(default=False, init=False)
    _carried: bool = field(default=False, init=False)

    async def look(self) -> None:
        """Before anything is planned: what its old node has counts, and not what its parameters are now."""
        self._found = bool(await keepers(self.parts, self.move.before, [self.move.source]))

    def first_steps(self) -> list[PlannedStep]:
        """When it has been stopped."""
        return [PlannedStep(CARRY, self.move.nodes, (f"instance {self.move.name}",))] if self._found else []

    def last_steps(self) -> list[PlannedStep]:
        """When there is no way back."""
        return (
            [PlannedStep(LEAVE, (self.move.source.name,), (f"instance {self.move.name}",))]
            if self.first_steps()
            else []
        )

    async def carry(self) -> None:
        """@raise OpExecError: it cannot be brought there."""
        if self.move.source.offline and is_kept(self.move.before):
            await self._tell_lost(f"node {self.move.source.name} is offline")
        if not self._found:
            return
        async with self.parts.step(CARRY, forgetting(self.move.after, self.move.target)):
            try:
                await self._bring()
            except RpcError as error:
                if not self.ignores:
                    raise OpExecError(
                        f"could not bring what the firmware and the TPM of instance {self.move.name} keep to node"
                        f" {self.move.target.name}: {error}"
                    ) from None
                await self._tell_lost(str(error))

    async def _bring(self) -> None:
        kept = await self.parts.nodes.call(self.move.source, InstanceKept(instance=self.move.before.spec()))
        if kept:
            await self.parts.nodes.call(self.move.target, InstanceKeep(instance=self.move.after.spec(), files=kept))
            self._carried = True

    async def _tell_lost(self, why: str) -> None:
        """And what the instance has instead: see doc/design/kvm.rst."""
        target = self.move.target
        call = KeptOwners(hypervisor=self.move.instance.hypervisor.value)
        told = (await self.parts.nodes.call_many([target], call))[target.name]
        earlier = f"with what node {target.name} has from an earlier time, which is older"
        if told.error is not None:
            begins = f"{earlier}, or with nothing"
        else:
            begins = earlier if self.move.instance.uuid in (told.value or ()) else "with nothing"
        self.parts.warn(
            f"what the firmware and the TPM of instance {self.move.name} kept is not brought along ({why}): it begins {begins};"
            " keys that only its TPM had may be lost"
        )

    async def leave(self) -> None:
        """It is on its new node for good."""
        if not self.first_steps():
            return
        async with self.parts.step(LEAVE):
            if self._carried:
                await forget(self.parts, self.move.before, self.move.source)
