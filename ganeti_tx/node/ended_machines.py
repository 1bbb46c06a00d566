"""What machines leave that end by themselves is removed at once, while no call does anything with the instance."""

from collections.abc import Mapping

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.hypervisor.interfaces import IEndsByItself, IHypervisor
from ganeti_tx.rpc.calls.instance import named

log = Logger()


@frozen
class EndedMachines:
    """Of all hypervisors of this node."""

    hypervisors: Mapping[str, IHypervisor]
    order: CallOrder

    def watch(self) -> None:
        """Begin, with what has ended while nobody was here to see it."""
        for hypervisor in self.hypervisors.values():
            if IEndsByItself.providedBy(hypervisor):
                self._watch(IEndsByItself(hypervisor))

    def _watch(self, hypervisor: IEndsByItself) -> None:
        def ended(name: str) -> None:
            clearing = Deferred.fromCoroutine(self._clear(hypervisor, name))
            clearing.addErrback(lambda failure: log.failure("what {name} left is still there", failure, name=name))

        hypervisor.watch_ends(ended)

    async def _clear(self, hypervisor: IEndsByItself, name: str) -> None:
        async with self.order.held([named(name)]):
            try:
                await hypervisor.clear_ended(name)
            except (GanetiError, OSError) as error:
                log.error("what instance {name} left is still there: {error}", name=name, error=error)
