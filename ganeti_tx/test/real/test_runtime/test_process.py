"""Real programs keep the contract."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from attrs import define
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ProcessDone
from twisted.internet.protocol import ProcessProtocol
from twisted.internet.task import Clock, deferLater
from twisted.python.failure import Failure

from ganeti_tx.runtime import log_limit
from ganeti_tx.runtime.reactor_process import GRACE, HELD, LONGEST, ReactorProcessRunner
from ganeti_tx.runtime.script_log import open_log
from ganeti_tx.test.contracts import process as contract


class EndedProcesses:
    """Starts programs that end at once, while somebody holds their pipes; their number goes to another process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def spawnProcess(self, processProtocol: ProcessProtocol, *args: object, **named: object) -> "EndedProcess":
        """As Twisted does it: the transport has the number until the end is heard of."""
        process = EndedProcess(processProtocol, self.number)
        processProtocol.makeConnection(process)
        process.pid = None
        return process


@define
class EndedProcess:
    """What is left of one: its pipes."""

    protocol: ProcessProtocol
    pid: int | None
    pipes: tuple[int, ...] = ()

    def loseConnection(self) -> None:
        """The pipes are closed, which was all that was waited for."""
        self.protocol.processEnded(Failure(ProcessDone(0)))


class ReactorProcessRunnerTests(contract.ProcessRunnerContract):
    """The contract with real programs."""

    runner: ReactorProcessRunner

    def setUp(self) -> None:
        """A runner on the real reactor."""
        self.runner = ReactorProcessRunner(reactor, reactor)
        self.top = Path(self.mktemp()).absolute()
        self.top.mkdir(parents=True)

    def test_cancel(self) -> Deferred[None]:  # type: ignore[override]
        """A caller can stop waiting; the program is ended behind its back."""
        return Deferred.fromCoroutine(self._test_cancel())

    async def _test_cancel(self) -> None:
        note = self.top / "pid"
        script = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(1000)"
        ended = self.runner.run([sys.executable, "-c", script])
        pid = int(await self._content(note))
        ended.cancel()
        self.failureResultOf(ended, CancelledError)
        await self._gone(pid)
        await self._settled()

    def test_log_limit(self) -> Deferred[None]:
        """A log that it writes itself is cut, and its descriptor is the caller's all the time."""
        return Deferred.fromCoroutine(self._test_log_limit())

    async def _test_log_limit(self) -> None:
        self.patch(log_limit, "MOST", 1 << 20)
        self.patch(log_limit, "BEGINNING", 1 << 19)
        log = open_log(self.top, "add-noop-web1")
        try:
            talks = ["seq", "1", "300000"]
            result = await self.runner.run(talks, child_fds={1: log.descriptor, 2: log.descriptor})
            self.assertTrue(result.succeeded)
            self.assertLess(log.path.stat().st_size, 1 << 20)
            self.assertIn("\n(cut here, as this log had more than 1 MiB; its end follows)\n", log.path.read_text())
            self.assertTrue(log.tail().endswith("| 299999 | 300000"))
        finally:
            log.close()

    def test_whole_group(self) -> Deferred[None]:
        """The children of a program end with it, when its time is over."""
        return Deferred.fromCoroutine(self._test_whole_group())

    async def _test_whole_group(self) -> None:
        result = await self.runner.run(["/bin/sh", "-c", "sleep 1000 & echo $!; wait"], timeout=0.5)
        self.assertTrue(result.timed_out)
        await self._gone(int(result.stdout))

    def test_child_descriptors(self) -> Deferred[None]:
        """A program gets the descriptors it was promised."""
        return Deferred.fromCoroutine(self._test_child_descriptors())

    async def _test_child_descriptors(self) -> None:
        ours, theirs = os.pipe()
        try:
            result = await self.runner.run(["/bin/sh", "-c", "echo size >&7; echo said"], child_fds={7: theirs})
        finally:
            os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            self.assertEqual((pipe.read(), result.stdout), (b"size\n", b"said\n"))

    def test_detached(self) -> Deferred[None]:  # type: ignore[override]
        """A detached program leads its own session and writes to its log."""
        return Deferred.fromCoroutine(self._test_detached())

    async def _test_detached(self) -> None:
        script = "import os, sys, time; print(os.getpid(), os.getsid(0), flush=True); time.sleep(1000)"
        pid = self.runner.run_detached([sys.executable, "-c", script], log=self.top / "log")
        self.assertEqual((await self._content(self.top / "log")).split(), [str(pid), str(pid)])
        os.kill(pid, signal.SIGKILL)
        await self._gone(pid)

    def test_ended_once(self) -> Deferred[None]:
        """Who is being ended already is not asked to end again when the caller goes, too; in the end it is killed."""
        return Deferred.fromCoroutine(self._test_ended_once())

    async def _test_ended_once(self) -> None:
        clock, note = Clock(), self.top / "asked"
        script = f"trap 'echo TERM >> {note}' TERM; echo $$ > {note}; while :; do sleep 0.01; done"
        ended = ReactorProcessRunner(reactor, clock).run(["/bin/sh", "-c", script], timeout=10)
        pid = int(await self._content(note))
        clock.advance(10)
        while note.read_text().count("TERM") < 1:
            await deferLater(reactor, 0.01)
        ended.cancel()
        self.failureResultOf(ended, CancelledError)
        await deferLater(reactor, 0.1)
        self.assertEqual(note.read_text().split(), [str(pid), "TERM"])
        clock.advance(GRACE)
        await self._gone(pid)
        while clock.getDelayedCalls():  # as long as the pipes are not known to be closed
            await deferLater(reactor, 0.01)

    def test_held_pipes(self) -> Deferred[None]:
        """What a program leaves in the background, with its pipes, is not waited for, and goes on."""
        return Deferred.fromCoroutine(self._test_held_pipes())

    async def _test_held_pipes(self) -> None:
        clock, note = Clock(), self.top / "pid"
        leaves = f"sh -c 'echo $$ > {note}; exec sleep 1000' & head -c 60000 /dev/zero; echo said >&2; exit 3"
        runner = ReactorProcessRunner(reactor, clock)
        ended = runner.run(["/bin/sh", "-c", leaves], timeout=10, stdin=b"x" * 200_000)
        pid = int(await self._content(note))
        try:
            while not [call for call in clock.getDelayedCalls() if call.getTime() == HELD]:
                await deferLater(reactor, 0.01)
            await deferLater(reactor, 0.1)  # the reactor looks at the pipes, in which all is that was said
            self.assertNoResult(ended)
            clock.advance(HELD)
            clock.advance(0)
            result = self.successResultOf(ended)
            os.kill(pid, 0)
        finally:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual((result.status, result.timed_out, result.stderr), (3, False, b"said\n"))
        self.assertEqual(len(result.stdout), 60000)
        self.assertEqual(clock.getDelayedCalls(), [])

    def test_held_over_time(self) -> Deferred[None]:
        """What has left the group of a program whose time is over, and holds the pipes, keeps nobody waiting for ever."""
        return Deferred.fromCoroutine(self._test_held_over_time())

    async def _test_held_over_time(self) -> None:
        clock, note = Clock(), self.top / "pid"
        leaves = f"setsid sh -c 'echo $$ > {note}; exec sleep 1000' & echo said; exec sleep 1000"
        ended = ReactorProcessRunner(reactor, clock).run(["/bin/sh", "-c", leaves], timeout=10)
        pid = int(await self._content(note))
        try:
            for seconds in (10, GRACE):
                clock.advance(seconds)
                await deferLater(reactor, 0.01)
                self.assertNoResult(ended)
            clock.advance(GRACE)
            result = await ended
        finally:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual((result.timed_out, result.stdout), (True, b"said\n"))
        self.assertEqual(clock.getDelayedCalls(), [])

    def test_unusable(self) -> None:
        """Arguments and variables that no program can have are one line, without what may be secret."""
        wrong: list[tuple[list[str], dict[str, str]]] = [
            (["/bin/true", "a\0"], {}),
            (["/bin/true"], {"OSP_PASSWORD": "secret\0"}),
            (["/bin/true"], {"OSP_A\0": "1"}),
            (["/bin/true"], {"OSP_A=B": "1"}),
            (["/bin/true"], {"OSP_A": "secret" * 30_000}),
            (["/bin/true", "a" * 128 * 1024], {}),
        ]
        for argv, env in wrong:
            result = self.successResultOf(self.runner.run(argv, env=env))
            self.assertEqual((result.status, result.stdout, len(result.stderr.splitlines())), (126, b"", 1))
            self.assertIn(b"cannot be started", result.stderr)
            self.assertNotIn(b"secret", result.stderr)

    async def test_longest(self) -> None:
        """The longest that a program can have, it gets."""
        longest = "a" * LONGEST
        result = await self.runner.run(["/bin/sh", "-c", "echo ${#1} ${#A}", "sh", longest], env={"A": longest[2:]})
        self.assertEqual(result.stdout.split(), [b"%d" % LONGEST, b"%d" % (LONGEST - 2)])

    def test_number_of_another(self) -> None:
        """When a program has ended, and its pipes are held, whoever has got its number since is left alone."""
        clock = Clock()
        with subprocess.Popen(["/bin/sleep", "1000"]) as another:
            ended = ReactorProcessRunner(EndedProcesses(another.pid), clock).run(  # type: ignore[arg-type]
                ["/bin/true"], timeout=10
            )
            for seconds in (10, GRACE, GRACE):
                clock.advance(seconds)
            self.successResultOf(ended)
            self.assertIsNone(another.poll())
            another.kill()
            self.assertEqual(another.wait(), -signal.SIGKILL)

    async def _content(self, path: Path) -> str:
        """What is in a file, once there is something."""
        while not (path.exists() and path.read_text()):
            await deferLater(reactor, 0.01)
        return path.read_text()

    async def _gone(self, pid: int) -> None:
        """Return once a process is no more (or is only waiting to be collected)."""
        while True:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                return
            if state == "Z":
                return
            await deferLater(reactor, 0.01)

    async def _settled(self) -> None:
        """Return once nothing is scheduled any more."""
        while [call for call in reactor.getDelayedCalls() if "_kill" in str(call)]:
            await deferLater(reactor, 0.01)
