"""What a daemon that was killed has left running is ended by the next one, and nothing else is."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IProcessTransport, IReactorProcess
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase
from zope.interface import implementer

from ganeti_tx.runtime.process import NOT_EXECUTABLE
from ganeti_tx.runtime.program_records import ProgramRecords, look
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner

#: A daemon that runs a script and waits for it; or that dies before it has written down what the script became.
DAEMON = """
import sys
from pathlib import Path
from twisted.internet import reactor
from ganeti_tx.runtime.process import NOT_EXECUTABLE
from ganeti_tx.runtime.program_records import ProgramRecords
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner

class Cut(ProgramRecords):
    def started(self, path, pid):
        import os
        os._exit(9)

kind = Cut if sys.argv[3] == "cut" else ProgramRecords
reactor.callWhenRunning(ReactorProcessRunner(reactor, reactor, kind(Path(sys.argv[1]))).run, [sys.argv[2]])
reactor.run()
"""
#: A script with a child in its session, which ignores what asks it to end, and one that has left it to live on.
SCRIPT = """#!/bin/sh
setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $! >"$0.apart"
sh -c 'trap "" TERM; echo $$ >"$0.child"; while :; do sleep 1; done' "$0" &
echo $$ >"$0.pid.new"; mv "$0.pid.new" "$0.pid"
wait
"""


@implementer(IReactorProcess)
class Refusing:
    """A machine that has as many processes as it may have."""

    def spawnProcess(self, *_args: object, **_kwargs: object) -> IProcessTransport:
        """As the system refuses it."""
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


class ProgramRecordsTests(TestCase):
    """Real processes."""

    timeout = 120

    def setUp(self) -> None:
        self.top = Path(self.mktemp()).absolute()
        self.records = ProgramRecords(self.top / "programs")
        self.script = self.top / "script"
        self.top.mkdir(parents=True)
        self.script.write_text(SCRIPT)
        self.script.chmod(0o755)

    async def sleep(self, seconds: float) -> None:
        """As a daemon waits."""
        await deferLater(reactor, seconds)

    async def number(self, name: str) -> int:
        """A process id that the script tells."""
        path = self.top / f"script.{name}"
        while not (path.exists() and path.read_text().strip()):
            await self.sleep(0.02)
        return int(path.read_text())

    async def killed_daemon(self, how: str) -> tuple[int, int]:
        """Have a daemon die while its script runs; gives the processes of the script's session."""
        daemon = subprocess.Popen([sys.executable, "-c", DAEMON, str(self.records.directory), str(self.script), how])
        self.addCleanup(daemon.wait)
        found = await self.number("pid"), await self.number("child")
        apart = await self.number("apart")
        self.addCleanup(os.kill, apart, signal.SIGKILL)
        daemon.kill()
        daemon.wait()
        self.assertTrue(all(map(look, found)), "they outlive it")
        return found

    def test_killed(self) -> Deferred[None]:
        """The whole session goes, also what does not want to; a process that has left the session lives on."""
        return Deferred.fromCoroutine(self._test_ended("killed"))

    def test_killed_at_start(self) -> Deferred[None]:
        """Even when it was not written down any more which process the script became."""
        return Deferred.fromCoroutine(self._test_ended("cut"))

    async def _test_ended(self, how: str) -> None:
        script, child = await self.killed_daemon(how)
        await self.records.end_all(self.sleep)
        self.assertEqual([look(script), look(child)], [None, None])
        self.assertIsNotNone(look(await self.number("apart")))
        self.assertEqual(os.listdir(self.records.directory), [])

    def test_leader_gone(self) -> Deferred[None]:
        """What a script has started goes although the script itself has ended meanwhile."""

        async def test() -> None:
            script, child = await self.killed_daemon("killed")
            os.kill(script, signal.SIGKILL)
            while look(script) is not None:
                await self.sleep(0.02)
            await self.records.end_all(self.sleep)
            self.assertIsNone(look(child))

        return Deferred.fromCoroutine(test())

    def test_number_used_again(self) -> Deferred[None]:
        """A process that has got the number of one that ended is not touched."""

        async def test() -> None:
            another = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            self.addCleanup(another.wait)
            self.addCleanup(another.kill)
            path = self.records.begin("/bin/true")
            assert path is not None
            ended = subprocess.Popen(["/bin/true"])
            ended.wait()
            self.records.started(path, another.pid)
            written = path.read_text().replace(f'"started":{look(another.pid).started}', '"started":1')  # type: ignore[union-attr]
            path.write_text(written)
            await self.records.end_all(self.sleep)
            self.assertIsNone(another.poll())
            self.assertEqual(os.listdir(self.records.directory), [])

        return Deferred.fromCoroutine(test())

    def test_ended(self) -> Deferred[None]:
        """A program that ended in order is forgotten; so is what it left running, which it must have meant to."""
        return Deferred.fromCoroutine(self._test_forgotten())

    async def _test_forgotten(self) -> None:
        runner = ReactorProcessRunner(reactor, reactor, self.records)
        left = await runner.run(["/bin/sh", "-c", "sleep 1000 >/dev/null 2>&1 </dev/null & echo $!"])
        process = int(left.stdout)
        self.addCleanup(os.kill, process, signal.SIGKILL)
        self.assertEqual(os.listdir(self.records.directory), [])
        await self.records.end_all(self.sleep)
        self.assertIsNotNone(look(process))

    def test_not_of_this_daemon(self) -> None:
        """What somebody else wrote, or nobody whole, ends nothing and hinders nobody."""
        self.records.directory.mkdir()
        (self.records.directory / "1-1").write_text("{")
        other = self.records.directory / "1-2"
        other.symlink_to("/etc/passwd")
        self.successResultOf(Deferred.fromCoroutine(self._end()))

    def test_directory_of_another(self) -> None:
        """Who may write to what it is in can put another directory in its place: nothing is written there, or believed."""
        path = self.records.begin("/bin/true")
        assert path is not None
        theirs = self.top / "theirs"
        self.records.directory.rename(theirs)
        self.records.directory.symlink_to(theirs)
        self.assertIsNone(self.records.begin("/bin/true"))
        self.assertEqual(self._ended_by_another(), [path.name])
        self.records.directory.unlink()
        theirs.rename(self.records.directory)
        self.records.directory.chmod(0o777)
        self.assertIsNone(self.records.begin("/bin/true"))
        self.assertEqual(self._ended_by_another(), [path.name])
        self.assertEqual(len(self.flushLoggedErrors()), 0)

    def test_pipe(self) -> None:
        """A pipe without a reader where a record is to be does not hold the daemon up."""
        self.records.directory.mkdir()
        os.mkfifo(self.records.directory / f"{os.getpid()}-1")
        self.assertIsNone(self.records.begin("/bin/true"))

    def _ended_by_another(self) -> list[str]:
        self.successResultOf(Deferred.fromCoroutine(self._end()))
        return os.listdir(self.records.directory)

    def test_not_started(self) -> Deferred[None]:
        """What cannot be started, as its variables are too many, is a result; no record is left of it."""

        async def test() -> None:
            runner = ReactorProcessRunner(reactor, reactor, self.records)
            variables = {"PATH": "/bin", **{f"OSP_{number}": "secret" * 16000 for number in range(100)}}
            result = await runner.run(["/bin/true"], env=variables)
            self.assertEqual((result.status, result.stdout), (NOT_EXECUTABLE, b""))
            self.assertIn(b"cannot be started: its arguments and variables take", result.stderr)
            self.assertNotIn(b"secret", result.stderr)
            self.assertFalse(self.records.directory.exists())
            refusing = ReactorProcessRunner(Refusing(), reactor, self.records)
            result = await refusing.run(["/bin/true"])
            self.assertEqual(result.status, NOT_EXECUTABLE)
            self.assertEqual(result.stderr, b"/bin/true: cannot be started: Resource temporarily unavailable")
            self.assertEqual(os.listdir(self.records.directory), [])

        return Deferred.fromCoroutine(test())

    def _end(self) -> Coroutine[Any, Any, None]:
        return self.records.end_all(self.sleep)
