"""Stopping an instance on its old node, for another one; what does not work there is ignored when that was asked for."""

from attrs import define

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.instance.moves.checks import check_no_others
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.presence import stop
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.questions import check_free_memory
from ganeti_tx.logic.undos import on_node
from ganeti_tx.rpc.calls.instance import InstanceStart

STOP = "stop the instance on its old node"


@define
class Leaving:
    """The part of a failover that is the same wherever it goes."""

    parts: Parts
    move: Move
    shutdown_timeout: float
    ignore_consistency: bool

    async def check(self) -> None:
        """@raise OpPrereqError: the target has not enough memory for the instance, or another one's machine of its name."""
        move = self.move
        await check_no_others(self.parts.nodes, move)
        if not move.is_up:
            self.parts.info("- INFO: Not checking memory on the secondary node as instance will not be started")
            return
        spec = move.after.spec()
        purpose = f"failing over instance {move.name}"
        wanted = int(spec.beparams["minmem"])
        await check_free_memory(self.parts.nodes, move.target, spec.hypervisor, wanted, purpose)

    def warn_of_offline(self) -> None:
        """Nobody can stop it there."""
        name, node = self.move.name, self.move.source.name
        self.parts.warn(
            f"Node {node} is offline, so instance {name} cannot be stopped there; make sure that it is down"
        )

    def step(self) -> PlannedStep:
        """See `stop`."""
        return PlannedStep(STOP, (self.move.source.name,), (f"instance {self.move.name}",), self.shutdown_timeout)

    async def stop(self) -> None:
        """Stop it; it is started there again if something fails later."""
        move = self.move
        again = [on_node(f"start instance {move.name}", move.source, InstanceStart(instance=move.before.spec()))]
        self.parts.info("* shutting down instance on source node")
        async with self.parts.step(STOP, *(again if move.is_up else ())):
            try:
                await stop(self.parts.nodes, move.before, self.shutdown_timeout, self.parts.warn)
            except OpExecError as error:
                self.ignore(error, f"make sure that node {move.source.name} is down")

    def ignore(self, error: OpExecError, advice: str) -> None:
        """Go on all the same, if that was asked for. @raise OpExecError: it was not."""
        if not self.ignore_consistency:
            raise OpExecError(f"{error}; --ignore-consistency goes on all the same: then {advice}") from None
        self.parts.warn(f"{error}; proceeding anyway: {advice}")
