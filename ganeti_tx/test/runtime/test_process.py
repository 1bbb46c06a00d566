"""The scripted programs keep the contract."""

import tracemalloc
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.contracts import process as contract
from ganeti_tx.test.fakes.process import FakeProcessRunner


class FakeProcessRunnerTests(contract.ProcessRunnerContract):
    """The contract with scripted programs."""

    runner: FakeProcessRunner

    def setUp(self) -> None:
        """The programs of the contract."""
        self.clock = Clock()
        self.top = Path("/top")
        self.runner = FakeProcessRunner(self.clock)
        self.runner.script(contract.ECHO, lambda call: ProcessResult(stdout=call.stdin))
        self.runner.script(contract.FAIL, ProcessResult(status=1, stdout=b"out\n", stderr=b"no such volume\n"))
        self.runner.script(contract.DIE, ProcessResult(status=None, signal=9))
        self.runner.script(contract.FOREVER, lambda call: Deferred())
        self.runner.script(contract.DETACHED, ProcessResult())
        self.runner.script(
            contract.SHOW_ENV,
            lambda call: ProcessResult(
                stdout=f"{call.env.get('NAME')} {call.env.get('HOME')} {call.cwd}\n".encode(),
            ),
        )

    def pass_time(self, seconds: float) -> None:
        """On the fake clock."""
        self.clock.advance(seconds)

    def test_longest_beginning(self) -> None:
        """The script that says most about the argv answers; every call is recorded."""
        self.runner.script(["lvs"], ProcessResult(stdout=b"all"))
        self.runner.script(["lvs", "--noheadings"], ProcessResult(stdout=b"few"))
        self.assertEqual(self.successResultOf(self.runner.run(["lvs", "vg"])).stdout, b"all")
        self.assertEqual(self.successResultOf(self.runner.run(["lvs", "--noheadings", "vg"])).stdout, b"few")
        self.assertEqual(self.runner.commands, [["lvs", "vg"], ["lvs", "--noheadings", "vg"]])
        self.assertEqual(self.clock.getDelayedCalls(), [])


class DescriptionTests(SynchronousTestCase):
    """What is said of a program that failed."""

    def test_flood(self) -> None:
        """The last line of millions is found without looking at all of them."""
        result = ProcessResult(status=1, stderr=b"a\n" * 1_000_000 + b" last one \n")
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(result.describe(), "exited with status 1: last one")
        self.assertLess(tracemalloc.get_traced_memory()[1], 3 * len(result.stderr))
