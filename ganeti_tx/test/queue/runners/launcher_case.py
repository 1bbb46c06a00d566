"""The ground of tests about runners: a launcher, and the ends of connections that runners have."""

from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.job import QueuedJob, QueuedOp
from ganeti_tx.queue.launcher import IRunner
from ganeti_tx.queue.runners.process_launcher import (
    ProcessJobLauncher,
)
from ganeti_tx.queue.runners.runner_channel import (
    Channel,
    ChannelFactory,
    Hello,
    Message,
)
from ganeti_tx.test.fakes.livelock import FakeLiveness

OP = QueuedOp(input={"OP_ID": "OP_TEST_DELAY"})


def lock(number: int) -> str:
    """The livelock of a process."""
    return f"/livelocks/job_{number}"


def job_of(job_id: int, number: int) -> QueuedJob:
    """A job whose file names a process."""
    return QueuedJob(id=job_id, ops=[OP], livelock=lock(number), process_id=number)


class Line:
    """The runner's end of a connection."""

    def __init__(self, launcher: ProcessJobLauncher) -> None:
        channel = ChannelFactory(launcher.welcome).buildProtocol(None)
        assert isinstance(channel, Channel)
        self.channel = channel
        self.transport = StringTransport()
        channel.makeConnection(self.transport)

    def say(self, message: Message) -> None:
        """Something arrives at luxid."""
        data = msgspec.json.encode(message)
        self.channel.dataReceived(len(data).to_bytes(4, "big") + data)

    def heard(self) -> list[Message]:
        """What luxid said since the last time."""
        data, found = self.transport.value(), []
        self.transport.clear()
        while data:
            length = int.from_bytes(data[:4], "big")
            found.append(msgspec.json.decode(data[4 : 4 + length], type=Message))
            data = data[4 + length :]
        return found

    def break_off(self) -> None:
        """The connection is gone."""
        self.channel.connectionLost()


class LauncherCase(SynchronousTestCase):
    """ProcessJobLauncher with connections and processes that are only simulated."""

    def setUp(self) -> None:
        """A launcher that nobody has asked for anything."""
        self.clock = Clock()
        self.liveness = FakeLiveness()
        self.forks = 0
        self.signals: list[tuple[int, int]] = []
        self.launcher = ProcessJobLauncher(
            self.clock, self.liveness, self.count_fork, lambda *sent: self.signals.append(sent)
        )

    def count_fork(self) -> None:
        """The zygote is asked."""
        self.forks += 1

    def connect(self, number: int, job_id: int | None = None) -> Line:
        """A living process says hello."""
        self.liveness.start(Path(lock(number)))
        line = Line(self.launcher)
        line.say(Hello(lock(number), number, job_id))
        return line

    def reserved(self) -> tuple[IRunner, Line]:
        """A runner lent to us, and its process's end."""
        wanted = self.launcher.reserve()
        line = self.connect(self.forks)
        return self.successResultOf(wanted), line

    def running(self, job_id: int = 7) -> "tuple[IRunner, Line, Deferred[None]]":
        """The same with a job."""
        runner, line = self.reserved()
        over = runner.run(job_of(job_id, runner.process_id), {0: {"password": "x"}})
        return runner, line, over
