"""The master is stopped, cut off or without power, and another candidate takes over; the old one comes back later."""

from random import Random

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
#: Seconds between two looks whether there is a master.
LOOK = 15.0


@define(eq=False)
class Failovers:
    """`completed` are the nodes that became the master, `lossy` is whether something may be lost with the old one."""

    cluster: InProcessCluster
    faults: Faults
    chance: Random
    record: Record
    completed: list[str] = field(factory=list)
    lossy: bool = False

    def begin(self) -> None:
        """Plan one or two changes of the master."""
        self.cluster.time.callLater(LOOK, self._look)
        for _ in range(self.chance.choice([1, 1, 2])):
            self.cluster.time.callLater(1.0 + self.chance.random() * 14.0, self._change)

    def _change(self) -> None:
        old = self.cluster.master
        successor = self.chance.choice([each for name, each in self.cluster.daemons.items() if name != old.name])
        match self.chance.randrange(4):
            case 0 | 1:
                self.record.tell(f"{old.name} gives way to {successor.node.name}")
            case 2:
                self.faults.cut_power(old)
            case 3:
                self.lossy = True
                self.faults.cut_off(old, self.chance.choice([5.0, 20.0, 100.0]))
        self.cluster.time.callLater(self.chance.choice([0.0, 1.0]), self._try, successor, TRIES)

    def _try(self, successor: MasterDaemons, tries: int) -> None:
        """What cannot be done now is tried again, here or on another node; two cannot run on one node."""
        if successor.node.name in self.faults.dark or _runs(successor):
            self._again(tries)
            return
        self.record.tell(f"master-failover on {successor.node.name}")
        running = failover(successor, lambda line: self.record.tell(f"{successor.node.name}: {line}"))
        running.addCallbacks(lambda _: self._done(successor), lambda failure: self._failed(successor, tries, failure))

    def _done(self, successor: MasterDaemons) -> None:
        self.record.tell(f"{successor.node.name} is the master")
        self.completed.append(successor.node.name)

    def _failed(self, successor: MasterDaemons, tries: int, failure: Failure) -> None:
        self.record.tell(f"no failover to {successor.node.name}: {failure.getErrorMessage()}")
        if not failure.check(GanetiError):
            self.record.breach(f"master-failover breaks: {failure.getTraceback()}")
        if not successor.luxid_process.alive:
            self._again(tries)

    def _again(self, tries: int) -> None:
        if tries > 0:
            self.cluster.time.callLater(AGAIN, self._try, self._anybody(), tries - 1)

    def _anybody(self) -> MasterDaemons:
        return self.chance.choice(list(self.cluster.daemons.values()))

    def _look(self) -> None:
        """A cluster without a master is not left so, also when the machine on which the command ran has lost power."""
        self.cluster.time.callLater(LOOK, self._look)
        all_daemons = self.cluster.daemons.values()
        if not any(each.wanted or _runs(each) for each in all_daemons):
            self._try(self._anybody(), 0)


def _runs(daemons: MasterDaemons) -> bool:
    return any(command.alive for command in daemons.commands)
