"""What WConfD tells of itself: what it has counted, and what is so now."""

from attrs import frozen

from ganeti_tx.config.store import ConfigStore
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.metrics.config import SERIAL, WRITE_FAILURES
from ganeti_tx.metrics.locks import HELD, WAITED_FOR
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.wconfd.distribute import Distributor


@frozen
class Description:
    """Gives the readings of this daemon; `process` is absent when another daemon tells of the process they share."""

    tally: Tally
    store: ConfigStore
    locks: DeferredLocks
    distributor: Distributor
    process: OwnProcess | None = None

    def readings(self) -> Readings:
        """As of now. Nodes that are not configured any more are forgotten."""
        config = self.store.snapshot
        names = {node.name for node in config.nodes.values()}
        self.tally.keep("node", names.__contains__)
        self.tally.set(SERIAL, config.serial_no)
        self.tally.count(WRITE_FAILURES, by=0)
        self.distributor.describe()
        self._describe_locks()
        if self.process is not None:
            self.process.record()
        return self.tally.readings()

    def _describe_locks(self) -> None:
        held, waiting = self.locks.held_at(), self.locks.waiting_at()
        for level in Level:
            self.tally.set(WAITED_FOR, waiting[level], level.wire_name)
            for mode in Mode:
                self.tally.set(HELD, held[level, mode], level.wire_name, mode.value)
