"""Runs on a machine of the lab, as root: programs for tests that reach its socket, by the runner that node daemons have.

python3 -m ganeti_tx.test.lab.agent SOCKET
"""

import errno
import sys
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorUNIX
from twisted.internet.protocol import Factory, connectionDone
from twisted.protocols.basic import Int32StringReceiver
from twisted.python.failure import Failure

from ganeti_tx.runtime.process import IProcessRunner, ProcessResult
from ganeti_tx.test.lab.messages import LONGEST, Answer, Cancel, Detach, Detached, Ended, Refused, Run, encoded, request


@define(eq=False)
class Agent(Int32StringReceiver):
    """One test's connection. What runs for it ends with it."""

    MAX_LENGTH = LONGEST

    _runner: IProcessRunner
    _running: dict[int, Deferred[ProcessResult]] = field(factory=dict)

    def stringReceived(self, string: bytes) -> None:
        """Do as asked."""
        wanted = request(string)
        if isinstance(wanted, Run):
            self._run(wanted)
        elif isinstance(wanted, Detach):
            self._detach(wanted)
        else:
            self._cancel(wanted)

    def _run(self, wanted: Run) -> None:
        ended = self._running[wanted.call] = self._runner.run(
            wanted.argv,
            env=wanted.env,
            cwd=Path(wanted.cwd) if wanted.cwd is not None else None,
            stdin=wanted.stdin,
            timeout=wanted.timeout,
            output_limit=wanted.output_limit,
        )

        def answer(result: ProcessResult) -> None:
            del self._running[wanted.call]
            self._say(Ended(wanted.call, result))

        ended.addCallbacks(answer, lambda _cancelled: None)

    def _detach(self, wanted: Detach) -> None:
        directory = Path(wanted.cwd) if wanted.cwd is not None else None
        try:
            pid = self._runner.run_detached(wanted.argv, log=Path(wanted.log), env=wanted.env, cwd=directory)
        except OSError as error:
            number = errno.ENOENT if isinstance(error, FileNotFoundError) else error.errno or errno.EIO
            self._say(Refused(wanted.call, number, error.strerror or str(error)))
        else:
            self._say(Detached(wanted.call, pid))

    def _cancel(self, wanted: Cancel) -> None:
        if (running := self._running.pop(wanted.call, None)) is not None:
            running.cancel()

    def _say(self, answer: Answer) -> None:
        self.sendString(encoded(answer))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The test has gone."""
        while self._running:
            self._running.popitem()[1].cancel()


def main() -> None:
    """Serve until the machine ends."""
    from twisted.internet import reactor

    from ganeti_tx.runtime.reactor_process import ReactorProcessRunner

    path = Path(sys.argv[1])
    path.unlink(missing_ok=True)
    runner = ReactorProcessRunner(reactor, reactor)
    IReactorUNIX(reactor).listenUNIX(str(path), Factory.forProtocol(lambda: Agent(runner)), mode=0o600)
    reactor.run()


if __name__ == "__main__":
    main()
