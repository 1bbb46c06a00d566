"""The keys of two nodes by which the hypervisors on them know one another during one migration, and believe nobody else."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.backup.remote.keys import TransferKey
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.migration import MigrationTls
from ganeti_tx.model.undo import Undo
from ganeti_tx.model.versions import MIGRATION_KEYS_SINCE
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import INodeRpc

#: The parameter by which a hypervisor may be told to do without; as long as nobody sets it, it does not.
PARAMETER = "migration_tls"


def wants_keys(move: Move) -> bool:
    """Whether the hypervisor needs them; others send nothing."""
    kind = HYPERVISORS[move.instance.hypervisor]
    return kind.keys_per_migration and bool(move.before.spec().hvparams.get(PARAMETER, True))


async def check_encrypts(nodes: INodeRpc, move: Move) -> None:
    """@raise OpPrereqError: one of the nodes would leave out the keys, which it does not know."""
    may_do_without = HYPERVISORS[move.instance.hypervisor].has(PARAMETER)
    without = f", or do without: 'gnt-instance modify -H {PARAMETER}=false {move.name}'" if may_do_without else ""
    for node in (move.source, move.target) if wants_keys(move) else ():
        if await ask(nodes, node, Version(), ECode.ENVIRON) < MIGRATION_KEYS_SINCE:
            raise OpPrereqError(
                f"node {node.name} runs an older version that cannot encrypt migrations by keys of their own:"
                f" install the same version on all nodes{without}",
                ECode.ENVIRON,
            )


@frozen
class KnownSides:
    """One key on each node, made for this migration."""

    source: TransferKey
    target: TransferKey

    @classmethod
    async def named(cls, parts: Parts, move: Move) -> "KnownSides":
        """Keys that have a name, and are not made yet."""
        name = f"migration-{await parts.config.generate_uuid()}"
        return cls(*(TransferKey(parts, node, name) for node in (move.source, move.target)))

    @property
    def undos(self) -> Sequence[Undo]:
        """What removes them."""
        return [self.source.undo, self.target.undo]

    async def make(self) -> tuple[MigrationTls, MigrationTls]:
        """For the source and the target, by what they know each other. @raise OpExecError: a node makes none."""
        certificates = [await key.create(early=True) for key in (self.source, self.target)]
        return (
            MigrationTls(self.source.name, certificates[1], self.target.node.name),
            MigrationTls(self.target.name, certificates[0], self.source.node.name),
        )

    async def remove(self) -> None:
        """They have served."""
        for key in (self.source, self.target):
            await key.remove()
