"""Programs on machines keep the contract of programs, and end when their machine does."""

import sys
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.test.contracts import process as contract
from ganeti_tx.test.lab.blocking import BlockingRunner
from ganeti_tx.test.lab.case import LabCase, runner_on
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.messages import UNREACHABLE
from ganeti_tx.test.lab.remote import RemoteRunner

TOP = Path("/run/test-of-runner")


def prepare(machine: Machine) -> Path:
    """An empty directory on the machine, and a Python where the contract has this machine's."""
    python = Path(sys.executable)
    machine.run(
        f"rm -rf {TOP}; mkdir {TOP}; mkdir -p {python.parent}; [ -e {python} ] || ln -s /usr/bin/python3 {python}"
    )
    return TOP


class BlockingRunnerTests(LabCase, contract.ProcessRunnerContract):
    """The contract for who is held until a program has ended."""

    runner: IProcessRunner

    def setUp(self) -> None:
        """A directory on the machine."""
        super().setUp()
        self.runner = runner_on(1)
        self.top = prepare(self.lab.machine(1))

    def test_cancel(self) -> None:
        """There is nothing to cancel: what is given has fired."""
        self.assertTrue(self.successResultOf(self.runner.run(["true"])).succeeded)

    async def _test_lives_on(self) -> None:
        log = self.top / "log"
        pid = self.runner.run_detached(["sh", "-c", "echo $$; exec sleep 1000"], log=log)
        self.addCleanup(self.lab.machine(1).run, f"kill {pid}")
        said = (await self.runner.run(["sh", "-c", f"sleep 1; cat {log}; ps -o args= -p {pid}"])).stdout
        self.assertEqual(said.decode().splitlines(), [str(pid), "sleep 1000"])

    def test_lives_on(self) -> Deferred[None]:
        """A detached program runs on the machine, not here."""
        return Deferred.fromCoroutine(self._test_lives_on())

    def test_descriptors(self) -> None:
        """Descriptors of ours mean nothing there."""
        self.assertRaises(ValueError, self.runner.run, ["true"], child_fds={3: 1})


class RemoteRunnerTests(LabCase, contract.ProcessRunnerContract):
    """The contract for who waits."""

    runner: RemoteRunner

    def setUp(self) -> None:
        """A connection of this test's own."""
        super().setUp()
        machine = self.lab.machine(1)
        self.top = prepare(machine)
        self.runner = RemoteRunner(reactor, machine.to_agent, machine.name)
        self.addCleanup(self.runner.close)

    def test_detached(self) -> None:
        """Who does not wait cannot be told a process id."""
        self.assertRaises(NotImplementedError, self.runner.run_detached, contract.DETACHED, log=self.top / "log")

    test_detached_missing = test_detached

    async def _test_cancelled(self) -> None:
        running = self.runner.run(["sh", "-c", f"echo $$ > {self.top}/pid; exec sleep 1000"])
        wait = f"while ! [ -s {self.top}/pid ]; do sleep 0.1; done; cat {self.top}/pid"
        pid = (await self.runner.run(["sh", "-c", wait])).stdout.decode().strip()
        running.addErrback(lambda _cancelled: None)
        running.cancel()
        gone = await self.runner.run(["sh", "-c", f"while kill -0 {pid} 2>/dev/null; do sleep 0.1; done"])
        self.assertTrue(gone.succeeded, gone.describe())

    def test_cancelled(self) -> Deferred[None]:
        """A program that nobody waits for any longer is ended there."""
        return Deferred.fromCoroutine(self._test_cancelled())


class UnreachableTests(SynchronousTestCase):
    """Machines that do not answer, shown by commands that end at once."""

    def test_blocking(self) -> None:
        """A program ends with ssh's status and names the machine."""
        runner = BlockingRunner(lambda: ["false"], "node7")
        result = self.successResultOf(runner.run(["true"]))
        self.assertEqual(result.status, UNREACHABLE)
        self.assertIn(b"node7: ", result.stderr)
        self.assertRaises(ConnectionError, runner.run_detached, ["true"], log=Path("/log"))
