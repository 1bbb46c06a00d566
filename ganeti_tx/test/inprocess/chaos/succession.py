"""The master is stopped, cut off or without power, and another candidate takes over; the old one comes back later."""

from random import Random
from typing import Any

from attrs import define, field
from twisted.python.failure import Failure

from ganeti_tx.errors import GanetiError
from ganeti_tx.test.inprocess.chaos.faults import Faults
from ganeti_tx.test.inprocess.chaos.record import Record
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.master import MasterDaemons
from ganeti_tx.test.inprocess.master_service import failover

#: Seconds between two tries of the administrator, and how many there are.
AGAIN = 5.0
TRIES = 6


@define(eq=False)
class Succession:
    """`completed` are the nodes that became the master, `lossy` is whether something may be lost with the old one."""

    cluster: InProcessCluster
    faults: Faults
    chance: Random
    record: Record
    completed: list[str] = field(factory=list)
    lossy: bool = False
    #: Where the command is running; it cannot run twice on a node.
    _busy: list[MasterDaemons] = field(factory=list)

    def begin(self) -> None:
        """Plan one or two changes of the master."""
        for _ in range(self.chance.choice([1, 1, 2])):
            self.cluster.time.callLater(1.0 + self.chance.random() * 14.0, self._change)

    def _change(self) -> None:
        old = self.cluster.master
        heir = self.chance.choice([each for name, each in self.cluster.daemons.items() if name != old.name])
        match self.chance.randrange(4):
            case 0 | 1:
                self.record.tell(f"{old.name} gives way to {heir.node.name}")
            case 2:
                self.faults.cut_power(old)
            case 3:
                self.lossy = True
                self.faults.cut_off(old, self.chance.choice([5.0, 20.0, 100.0]))
        self.cluster.time.callLater(self.chance.choice([0.0, 1.0]), self._try, heir, TRIES)

    def _try(self, heir: MasterDaemons, tries: int) -> None:
        """What cannot be done now is tried again, here or on another node, for as long as there is no master."""
        if tries <= 0 and any(each.wanted for each in self.cluster.daemons.values()):
            return
        if heir.node.name in self.faults.dark or heir in self._busy:
            self._again(tries)
            return
        self.record.tell(f"master-failover on {heir.node.name}")
        self._busy.append(heir)
        running = failover(heir, lambda line: self.record.tell(f"{heir.node.name}: {line}"))
        running.addBoth(self._ended, heir)
        running.addCallbacks(lambda _: self._done(heir), lambda failure: self._failed(heir, tries, failure))

    def _ended(self, result: Any, heir: MasterDaemons) -> Any:
        self._busy.remove(heir)
        return result

    def _done(self, heir: MasterDaemons) -> None:
        self.record.tell(f"{heir.node.name} is the master")
        self.completed.append(heir.node.name)

    def _failed(self, heir: MasterDaemons, tries: int, failure: Failure) -> None:
        self.record.tell(f"no failover to {heir.node.name}: {failure.getErrorMessage()}")
        if not failure.check(GanetiError):
            self.record.breach(f"master-failover breaks: {failure.getTraceback()}")
        if not heir.luxid_process.alive:
            self._again(tries)

    def _again(self, tries: int) -> None:
        another = self.chance.choice(list(self.cluster.daemons.values()))
        self.cluster.time.callLater(AGAIN, self._try, another, tries - 1)
