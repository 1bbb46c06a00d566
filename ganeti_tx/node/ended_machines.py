"""What machines that end by themselves leave goes at once, and what was told of them, while no call is about the instance."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.hypervisor.interfaces import IEndsByItself, IFreezes, IHypervisor, IListensForMachines
from ganeti_tx.node.metadata.guests_told import Nobody, ToldOfInstances
from ganeti_tx.rpc.calls.instance import named

log = Logger()


@frozen
class EndedMachines:
    """Of all hypervisors of this node."""

    hypervisors: Mapping[str, IHypervisor]
    order: CallOrder
    told: ToldOfInstances = field(factory=Nobody)

    def watch(self) -> None:
        """Begin, with what has ended while nobody was here to see it; and go on with what a daemon before has begun."""
        for hypervisor in self.hypervisors.values():
            if IFreezes.providedBy(hypervisor):
                IFreezes(hypervisor).thaw_all()
            if IListensForMachines.providedBy(hypervisor):
                IListensForMachines(hypervisor).listen_again(self._alone)
            if IEndsByItself.providedBy(hypervisor):
                self._watch(hypervisor)

    def _alone(self, name: str) -> AbstractAsyncContextManager[None]:
        return self.order.held([named(name)])

    def _watch(self, hypervisor: IHypervisor) -> None:
        def ended(name: str) -> None:
            clearing = Deferred.fromCoroutine(self._clear(hypervisor, name))
            clearing.addErrback(lambda failure: log.failure("what {name} left is still there", failure, name=name))

        IEndsByItself(hypervisor).watch_ends(ended)

    async def _clear(self, hypervisor: IHypervisor, name: str) -> None:
        async with self._alone(name):
            try:
                await IEndsByItself(hypervisor).clear_ended(name)
            except (GanetiError, OSError) as error:
                log.error("what instance {name} left is still there: {error}", name=name, error=error)
            if await hypervisor.info(name) is None:  # it may have been started again before its end was told
                await self.told.forget(name)
