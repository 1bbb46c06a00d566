"""What every IProcessRunner does."""

import sys
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase
from zope.interface.verify import verifyObject

from ganeti_tx.runtime.process import IProcessRunner

ECHO = [sys.executable, "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"]
FAIL = [sys.executable, "-c", "import sys; print('out'); sys.exit('no such volume')"]
SHOW_ENV = [sys.executable, "-c", "import os; print(os.environ.get('NAME'), os.environ.get('HOME'), os.getcwd())"]
FOREVER = ["/bin/sleep", "1000"]
DIE = ["/bin/sh", "-c", "kill -9 $$"]
MISSING = ["/no/such/program", "--now"]
DETACHED = [sys.executable, "-c", "print('hello')"]


class ProcessRunnerContract(TestCase):
    """A subclass sets `runner`, and `top`: a directory that exists for it."""

    runner: IProcessRunner
    top: Path

    def pass_time(self, seconds: float) -> None:
        """Let a runner whose clock stands still see time go by."""

    def test_interface(self) -> None:
        """It has every method of the interface."""
        verifyObject(IProcessRunner, self.runner)

    async def _test_echo(self) -> None:
        result = await self.runner.run(ECHO, stdin=b"some bytes \0\xff")
        self.assertEqual((result.status, result.stdout, result.stderr), (0, b"some bytes \0\xff", b""))
        self.assertTrue(result.succeeded)

    def test_echo(self) -> Deferred[None]:
        """It gives the program its input, and gives back what it said."""
        return Deferred.fromCoroutine(self._test_echo())

    async def _test_failure(self) -> None:
        result = await self.runner.run(FAIL)
        self.assertEqual((result.status, result.signal, result.succeeded), (1, None, False))
        self.assertEqual((result.stdout, result.stderr), (b"out\n", b"no such volume\n"))
        self.assertEqual(result.describe(), "exited with status 1: no such volume")

    def test_failure(self) -> Deferred[None]:
        """A program that fails is a result, not an error."""
        return Deferred.fromCoroutine(self._test_failure())

    async def _test_missing(self) -> None:
        result = await self.runner.run(MISSING)
        self.assertEqual(result.describe(), "exited with status 127: /no/such/program: command not found")

    def test_missing(self) -> Deferred[None]:
        """A program that is not there has the shells' status for it."""
        return Deferred.fromCoroutine(self._test_missing())

    async def _test_signal(self) -> None:
        result = await self.runner.run(DIE)
        self.assertEqual((result.status, result.signal, result.timed_out), (None, 9, False))
        self.assertEqual(result.describe(), "ended by signal 9")

    def test_signal(self) -> Deferred[None]:
        """A program that a signal ends has no status."""
        return Deferred.fromCoroutine(self._test_signal())

    async def _test_timeout(self) -> None:
        ended = self.runner.run(FOREVER, timeout=0.1)
        self.pass_time(0.1)
        result = await ended
        self.assertEqual((result.status, result.signal, result.timed_out), (None, 15, True))
        self.assertEqual((result.succeeded, result.describe()), (False, "timed out"))

    def test_timeout(self) -> Deferred[None]:
        """A program whose time is over is ended, and the result says so."""
        return Deferred.fromCoroutine(self._test_timeout())

    async def _test_output_limit(self) -> None:
        whole = await self.runner.run(ECHO, stdin=b"12345", output_limit=5)
        cut = await self.runner.run(ECHO, stdin=b"123456", output_limit=5)
        self.assertEqual((whole.stdout, whole.truncated), (b"12345", False))
        self.assertEqual((cut.stdout, cut.truncated, cut.status), (b"12345", True, 0))

    def test_output_limit(self) -> Deferred[None]:
        """What a program says beyond the limit is dropped, and the result says so."""
        return Deferred.fromCoroutine(self._test_output_limit())

    async def _test_environment(self) -> None:
        result = await self.runner.run(SHOW_ENV, env={"NAME": "value"}, cwd=self.top)
        self.assertEqual(result.stdout.decode(), f"value None {self.top}\n")

    def test_environment(self) -> Deferred[None]:
        """The program has the environment and directory it was given, and nothing of ours."""
        return Deferred.fromCoroutine(self._test_environment())

    def test_cancel(self) -> None:
        """A caller can stop waiting."""
        ended = self.runner.run(FOREVER)
        ended.cancel()
        self.failureResultOf(ended).check(Exception)

    def test_detached_missing(self) -> None:
        """A detached program that is not there is an error at once."""
        self.assertRaises(FileNotFoundError, self.runner.run_detached, MISSING, log=self.top / "log")

    def test_detached(self) -> None:
        """A detached program has a process id."""
        self.assertGreater(self.runner.run_detached(DETACHED, log=self.top / "log"), 1)
