"""Bad luck of every kind, done to a cluster at any turn; whatever ends is started again after a while, as by systemd."""

import errno
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ganeti_tx.errors import GanetiError
from ganeti_tx.mastership.this_node import NotMasterError
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.test.inprocess.chaos.record import Record
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.master import MasterDaemons
from ganeti_tx.test.inprocess.network import Late, Says, Trouble, Twice, Wrong
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.power import VOLATILE
from ganeti_tx.test.inprocess.simulation import Process

#: Seconds until somebody starts again what has ended.
PAUSES = (0.0, 0.01, 0.1, 1.0, 5.0)
#: Seconds until the next try to start what did not come up.
RESTART = 1.0
#: Seconds that a fault lasts which goes by itself.
WHILES = (0.05, 0.5, 3.0, 15.0)
#: Calls that may take longer are not lost or held back: their callers would be waited for too long.
TIMEOUT = 1200.0
WRITES = ("write_atomic", "write_many", "rename", "remove", "mkdir")


class InjectedError(OSError):
    """A disk's refusal that a fault made up."""


@define(eq=False)
class Faults:
    """What can happen to a cluster, and how it gets well again."""

    cluster: InProcessCluster
    chance: Random
    record: Record
    struck: Counter[str] = field(factory=Counter)
    over: bool = False
    dark: set[str] = field(factory=set)
    darkened: set[str] = field(factory=set)
    #: When nothing that was sent is still on its way, and nobody waits for what will not come.
    waited_for: float = 0.0

    def strike(self) -> None:
        """One fault by chance."""
        kinds: list[Callable[[], None]] = [
            *[self.luxid] * 4, *[self.wconfd] * 4, *[self.master] * 2, *[self.runner] * 4, self.runners, self.zygote,
            *[self.noded] * 3, *[self.power] * 2, self.everything, *[self.calls] * 3, *[self.odd_calls] * 3,
            self.partition, *[self.disk] * 3, self.clock, *[self.stall] * 2, *[self.sever] * 2,
        ]  # fmt: skip
        kind = self.chance.choice(kinds)
        self.struck[kind.__name__] += 1
        kind()

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        self.cluster.time.callLater(seconds, what)

    # Daemons

    def luxid(self) -> None:
        """luxid is killed."""
        self.record.tell("luxid is killed")
        self._end_luxid(self.cluster.acting)

    def _end_luxid(self, daemons: MasterDaemons) -> None:
        if daemons.luxid_process.alive:
            daemons.kill_luxid()
            self._later(self.chance.choice(PAUSES), lambda: self._start_luxid(daemons))

    def _start_luxid(self, daemons: MasterDaemons) -> None:
        if daemons.node.name in self.dark or daemons.luxid_process.alive or not daemons.wanted:
            return
        self.record.tell(f"luxid starts on {daemons.node.name}")
        starting = daemons.start_luxid_later()
        self._watch_start(daemons, daemons.luxid_process, starting, self._start_luxid)

    def wconfd(self) -> None:
        """WConfD is killed."""
        self.record.tell("wconfd is killed")
        self._end_wconfd(self.cluster.acting)

    def _end_wconfd(self, daemons: MasterDaemons) -> None:
        if daemons.wconfd_process.alive:
            daemons.kill_wconfd()
            self._later(self.chance.choice(PAUSES), lambda: self._start_wconfd(daemons))

    def _start_wconfd(self, daemons: MasterDaemons) -> None:
        if daemons.node.name in self.dark or daemons.wconfd_process.alive or not daemons.wanted:
            return
        self.record.tell(f"wconfd starts on {daemons.node.name}")
        starting = daemons.start_wconfd_later()
        self._watch_start(daemons, daemons.wconfd_process, starting, self._start_wconfd)

    def _watch_start(
        self,
        daemons: MasterDaemons,
        process: Process,
        starting: "Deferred[None]",
        again: Callable[[MasterDaemons], None],
    ) -> None:
        """A daemon that cannot start ends, and is started again; why it could not must be something that passes.

        One that finds another master stays down.
        """

        def failed(failure: Failure) -> None:
            if not process.alive:
                return
            self.record.tell(f"{process.name} does not start on {daemons.node.name}: {failure.getErrorMessage()}")
            if not failure.check(GanetiError, OSError):
                self.record.breach(f"{process.name} breaks as it starts: {failure.getTraceback()}")
            process.die()
            if failure.check(NotMasterError):
                daemons.wanted = False
            else:
                self._later(RESTART, lambda: again(daemons))

        starting.addErrback(failed)

    def master(self) -> None:
        """Both master daemons are killed, as one process is."""
        self.record.tell("both master daemons are killed")
        self._end_luxid(self.cluster.acting)
        self._end_wconfd(self.cluster.acting)

    def runner(self) -> None:
        """A job's process is killed."""
        if living := sorted(self.cluster.zygote.runners):
            process_id = self.chance.choice(living)
            self.record.tell(f"runner-{process_id} is killed")
            self.cluster.zygote.kill(process_id)

    def runners(self) -> None:
        """All jobs' processes are killed."""
        self.record.tell("all runners are killed")
        for process_id in sorted(self.cluster.zygote.runners):
            self.cluster.zygote.kill(process_id)

    def zygote(self) -> None:
        """The zygote is killed."""
        if self.cluster.zygote.process.alive and self.cluster.acting.luxid_process.alive:
            self.record.tell("the zygote is killed")
            self.cluster.zygote.die()

    def _some_node(self) -> SimulatedNode:
        return self.chance.choice(self.cluster.members)

    def noded(self) -> None:
        """A node daemon is killed."""
        self._end_noded(self._some_node())

    def _end_noded(self, node: SimulatedNode) -> None:
        if node.daemon is None:
            return
        self.record.tell(f"the node daemon of {node.name} is killed")
        node.stop()
        self._later(self.chance.choice(PAUSES), lambda: self._start_noded(node))

    def _start_noded(self, node: SimulatedNode) -> None:
        if node.daemon is None and node.name not in self.dark:
            self.record.tell(f"the node daemon of {node.name} starts")
            node.start()

    def everything(self) -> None:
        """Every process everywhere is killed."""
        self.master()
        self.zygote()
        self.runners()
        for node in self.cluster.members:
            self._end_noded(node)

    # Machines

    def power(self) -> None:
        """A machine loses power."""
        self.cut_power(self._some_node())

    def cut_power(self, node: SimulatedNode) -> None:
        """One machine does."""
        if node.name in self.dark:
            return
        self.record.tell(f"{node.name} loses power")
        self.dark.add(node.name)
        self.darkened.add(node.name)
        self.cluster.lose_power(node, self.chance)
        self._later(self.chance.choice([1.0, 10.0, 40.0]), lambda: self._boot(node))

    def _boot(self, node: SimulatedNode) -> None:
        self.record.tell(f"{node.name} boots")
        self.dark.discard(node.name)
        node.disk.fault = None
        node.boot()
        daemons = self.cluster.daemons[node.name]
        if daemons.enabled:
            daemons.wanted = True
            self._start_wconfd(daemons)
            self._later(self.chance.choice(PAUSES), lambda: self._start_luxid(daemons))

    def clock(self) -> None:
        """A machine's clock jumps."""
        node = self._some_node()
        node.clock_error += self.chance.choice([-86400.0, -3600.0, -1.0, 1.0, 3600.0, 86400.0])
        self.record.tell(f"the clock of {node.name} is wrong by {node.clock_error:g} s")

    def stall(self) -> None:
        """A process does nothing for a while."""
        living = [process for process in self.cluster.processes if process.alive and process.name != "operator"]
        process = self.chance.choice(living)
        seconds = self.chance.choice(WHILES)
        self.record.tell(f"{process.name} stalls for {seconds:g} s")
        process.stall(seconds)

    # What is between them

    def sever(self) -> None:
        """A connection breaks."""
        streams = [stream for process in self.cluster.processes if process.alive for stream in process.streams]
        if streams:
            stream = self.chance.choice(streams)
            self.record.tell(f"a connection of {stream.process.name} breaks")
            stream.sever()

    def calls(self) -> None:
        """For a while some node calls go wrong."""
        rate, seconds = self.chance.choice([0.05, 0.3, 1.0]), self.chance.choice(WHILES)
        kinds: list[Trouble | Says] = [Trouble.REFUSED, Trouble.SILENT, Trouble.BROKEN, Says("bad luck")]
        self.record.tell(f"{rate:.0%} of the node calls go wrong for {seconds:g} s")

        def fault(node: str, call: NodeCall[object]) -> Trouble | Says | None:
            return self.chance.choice(kinds) if self.chance.random() < rate else None

        self.cluster.network.fault = fault
        self._later(seconds, self._calls_go_well)

    def odd_calls(self) -> None:
        """For a while some node calls come twice, or late, or their callers never hear of it."""
        rate, seconds = self.chance.choice([0.05, 0.3, 1.0]), self.chance.choice(WHILES)
        only = self.chance.choice(["", "instance_", "blockdev_"])
        self.record.tell(f"{rate:.0%} of the {only or 'node '}calls come twice, late or unheard for {seconds:g} s")

        def fault(node: str, call: NodeCall[object]) -> Wrong | None:
            if not call.name.startswith(only) or self.chance.random() >= rate or call.time_limit() > TIMEOUT:
                return None
            wrong = self._oddity(call.time_limit())
            self.waited_for = max(self.waited_for, self.cluster.time.rightNow + 2 * call.time_limit())
            self.record.tell(f"{call.name} to {node}: {wrong}")
            return wrong

        self.cluster.network.fault = fault
        self._later(seconds, self._calls_go_well)

    def _oddity(self, limit: float) -> Wrong:
        match self.chance.randrange(5):
            case 0 | 1:
                return Twice(self.chance.choice([0.0, 0.001, 0.1, 3.0, 30.0]))
            case 2 | 3:
                return Late(self.chance.choice([0.01, 1.0, 10.0, limit - 0.001, limit + 1.0, 1.5 * limit]))
        return Trouble.ANSWER_LOST

    def _calls_go_well(self) -> None:
        self.cluster.network.fault = None

    def partition(self) -> None:
        """For a while a node cannot be reached."""
        self.cut_off(self._some_node(), self.chance.choice(WHILES))

    def cut_off(self, node: SimulatedNode, seconds: float) -> None:
        """One node is, and reaches nobody."""
        if node.name in self.dark:
            return
        self.record.tell(f"{node.name} cannot be reached for {seconds:g} s")
        self.cluster.network.silent.add(node.address)
        self._later(seconds, lambda: self._reached_again(node))

    def _reached_again(self, node: SimulatedNode) -> None:
        if node.name not in self.dark:
            self.cluster.network.silent.discard(node.address)

    def disk(self) -> None:
        """For a while a disk refuses writes, or some of them."""
        node = self.chance.choice([self.cluster.master, self._some_node()])
        code, rate = self.chance.choice([errno.ENOSPC, errno.EIO]), self.chance.choice([0.2, 1.0])
        seconds = self.chance.choice(WHILES)
        self.record.tell(f"{rate:.0%} of the writes on {node.name} fail for {seconds:g} s: {os.strerror(code)}")

        def fault(operation: str, path: Path) -> OSError | None:
            if operation not in WRITES or VOLATILE in path.parents or self.chance.random() >= rate:
                return None
            self.record.tell(f"{operation} {path} on {node.name} fails")
            return InjectedError(code, os.strerror(code), str(path))

        node.disk.fault = fault
        self._later(seconds, lambda: self._disk_is_well(node))

    def _disk_is_well(self, node: SimulatedNode) -> None:
        node.disk.fault = None

    # The end of it

    def lift(self) -> None:
        """Nothing goes wrong any more; what is down comes up in its own time."""
        self.record.tell("no more faults")
        self._calls_go_well()
        for node in self.cluster.members:
            self._disk_is_well(node)
            self._reached_again(node)
