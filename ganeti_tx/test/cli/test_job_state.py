"""Tests of the line about how far a job is."""

import io
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.job_state import JobState, line_of_several
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.test.cli.fakes import FakeClient, Terminal

START = [1000, 0]
BACK = "\r\x1b[K"


def entry(at: float, kind: str, message: Any, serial: int = 1) -> list[Any]:
    """A log entry of so many seconds after the start."""
    return [serial, [1000 + at, 0], kind, message]


def step(number: int, title: str, **more: Any) -> dict[str, Any]:
    """What a log tells of a step that has begun."""
    return {"step": number, "of": 4, "title": title, "state": "begun", **more}


def info(status: str, *op_statuses: str) -> list[Any]:
    """What is asked of a job."""
    summaries = [f"OP{number}(web1)" for number, _ in enumerate(op_statuses, 1)]
    return [status, summaries, list(op_statuses), None if status == "queued" else START]


class TextTests(SynchronousTestCase):
    """What the line says."""

    def setUp(self) -> None:
        self.state = JobState(7)

    def text(self, seconds: float, info: list[Any], *entries: list[Any]) -> str:
        """The line so long after the start, after something was learnt."""
        self.state.learn(info, entries)
        return self.state.text(1000 + seconds)

    def test_waits(self) -> None:
        """What a job waits for, which opcode of how many it is at, and how long it takes already."""
        self.assertEqual(self.text(0, info("queued", "queued")), "job 7 waits in the queue | OP1(web1)")
        self.assertEqual(
            self.text(75, info("waiting", "success", "waiting", "queued")),
            "job 7 waits for locks | OP2(web1) (2 of 3) | 1m 15s elapsed",
        )

    def test_step(self) -> None:
        """The step with its nodes, and what is left of its time, which passes."""
        running = info("running", "running")
        told = entry(2, "step", step(2, "stop it", nodes=["node1"], left=120.0))
        self.assertEqual(
            self.text(12, running, told),
            "job 7 runs | OP1(web1) | step 2 of 4: stop it on node1, at most 1m 50s left | 12s elapsed",
        )
        self.assertIn("at most 0s left", self.text(4000, running))
        self.assertIn("1h 6m elapsed", self.text(4000, running))

    def test_sync(self) -> None:
        """Each disk with its share and estimate, until they are in sync."""
        running = info("running", "running")
        first = entry(0, "message", "- INFO: - device disk/0: 25.50% done, 1h 2m 3s remaining (estimated)")
        second = entry(0, "message", "- INFO: - device disk/1:  3.00% done, no time estimate")
        text = self.text(60, running, entry(0, "step", step(3, "sync")), first, second)
        self.assertIn("step 3 of 4: sync | disk/0 25.50%, about 1h 1m left | disk/1 3.00% | 1m 0s", text)
        over = self.text(61, running, entry(61, "message", "- INFO: Instance web1's disks are in sync"))
        self.assertNotIn("disk/", over)

    def test_odd(self) -> None:
        """What other versions say does no harm, nor does what controls a terminal."""
        running = info("running", "running")
        odd = [
            entry(0, "step", "text"),
            entry(0, "remote-import", {"a": 1}),
            entry(0, "step", {"state": "begun", "left": "x"}),
        ]
        self.assertIn("job 7 runs", self.text(0, running, *odd))
        self.assertNotIn("\x1b", self.text(0, running, entry(0, "step", step(1, "a\x1b[2Jb"))))
        self.assertEqual(JobState(7).text(0), "")


class SeveralTests(SynchronousTestCase):
    """The line about several."""

    def test_line(self) -> None:
        """Of each its step and what is left of that, or what it waits for."""
        states = [JobState(number) for number in (7, 8, 9)]
        states[0].learn(info("running", "running"), [entry(2, "step", step(2, "stop it", nodes=["node1"], left=120.0))])
        states[1].learn(info("queued", "queued"), [])
        told = "4 jobs go on | 7 step 2 of 4, at most 1m 50s left | 8 waits in the queue | 9 runs | 7 step"
        self.assertEqual(line_of_several([*states, states[0]], 1012.0)[: len(told)], told)

    def test_in_place(self) -> None:
        """Below what the jobs say; it goes when the last one has ended."""
        client = FakeClient()
        script = {
            1: [[info("running", "running"), []], [info("success", "success"), []]],
            2: [[info("success", "success"), []]],
        }
        client.answers["WaitForJobChange"] = lambda job_id, *_: script[job_id].pop(0)
        client.answers["QueryJobs"] = lambda *_: [["success", ["success"], [None]]]
        out, err = io.StringIO(), Terminal()
        context = CommandContext(
            {"TERM": "xterm"},
            out,
            err,
            io.StringIO(),
            lambda: client,
            lambda argv, document: 0,
            sleep=lambda _seconds: None,
        )
        self.assertEqual(run(program_named("gnt-job"), ["watch", "1", "2"], context), 0)
        self.assertEqual(out.getvalue(), "2: success\n1: success\n")
        self.assertEqual(err.getvalue(), f"{BACK}1 job goes on | 1 runs{BACK}")


class LiveTests(SynchronousTestCase):
    """The line on a terminal."""

    def setUp(self) -> None:
        self.client = FakeClient()
        self.client.jobs[7] = [{"OP_ID": "OP_TEST_DELAY"}]
        self.client.answers["QueryJobs"] = lambda *_: [["success", ["success"], [None]]]

    def follow(self, err: io.StringIO, environ: dict[str, str], *answers: Any) -> tuple[str, str]:
        """What is written while a job is followed."""
        script = list(answers)
        self.client.answers["WaitForJobChange"] = lambda *_: script.pop(0)
        out = io.StringIO()
        session = Session(
            program="gnt-job", command="watch", environ=environ, out=out, err=err, stdin=io.StringIO(),
            connect=lambda: self.client, run=lambda argv, document: 0, capture=lambda argv: (0, ""), now=lambda: 1010.0,
        )  # fmt: skip
        follow(session, 7)
        return out.getvalue(), err.getvalue()

    def test_in_place(self) -> None:
        """It is written anew every second, taken back before a message, and gone at the end."""
        running, message = info("running", "running"), entry(1, "message", "hello")
        out, err = self.follow(
            Terminal(),
            {"TERM": "xterm"},
            [running, []],
            "nochange",
            [running, [message]],
            [info("success", "success"), []],
        )
        line = f"{BACK}job 7 runs | OP1(web1) | 10s elapsed"
        self.assertEqual(err, f"{line}{line}{BACK}{line}{BACK}")
        self.assertEqual(out[24:], " hello\n")
        self.assertEqual([args[4] for args in self.client.sent("WaitForJobChange")], [1, 1, 1, 1])

    def test_cut(self) -> None:
        """It fits the terminal's line, since only one can be taken back."""
        running = ["running", ["x" * 200], ["running"], START]
        _out, err = self.follow(Terminal(), {"TERM": "xterm"}, [running, []], [info("success", "success"), []])
        self.assertEqual(len(err.removeprefix(BACK).removesuffix(BACK)), 79)

    def test_elsewhere(self) -> None:
        """Without a terminal, or with one that cannot take a line back, it is as with Ganeti, and as much is asked."""
        for err, environ in ((io.StringIO(), {"TERM": "xterm"}), (Terminal(), {"TERM": "dumb"}), (Terminal(), {})):
            out, said = self.follow(err, environ, [["running"], []], [["success"], []])
            self.assertEqual((out, said), ("", ""))
            self.assertEqual(self.client.sent("WaitForJobChange")[-1][1], ["status"])
