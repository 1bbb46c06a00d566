"""The reset of this node, which the master orders when nothing else brings it back."""

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.administration import NodePowercycle
from ganeti_tx.runtime.machine_reset import MachineReset

log = Logger()

#: Seconds for the answer to reach the master.
DELAY = 5.0


@frozen
class Powercycle:
    """Nothing of it needs a disk (design-2.1, Node daemon availability)."""

    clock: IReactorTime
    machine: MachineReset

    @answers(NodePowercycle)
    async def powercycle(self, call: NodePowercycle) -> str:
        """What will be. @raise HypervisorError: this machine cannot be reset."""
        if obstacle := self.machine.obstacle():
            raise HypervisorError(f"this node cannot be reset: {obstacle}")
        log.critical("this node will be reset in {delay:g} seconds, as the master wants it", delay=DELAY)
        self.clock.callLater(DELAY, self._reset)
        return f"Reboot scheduled in {DELAY:g} seconds"

    def _reset(self) -> None:
        try:
            self.machine.reset()
        except OSError:
            log.failure("this node was not reset")
