"""Tests of watching several jobs at once."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.job.chosen import job_ranges
from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.progress import GOES_ON
from ganeti_tx.errors import OpExecError
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.test.cli.fakes import STAMP, CommandLine, Outcome, answer_of


class WatchTests(SynchronousTestCase):
    """gnt-job watch of several."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        for job_id in (1, 2):
            self.cli.client.jobs[job_id] = [{"OP_ID": f"OP_TEST_{job_id}"}]
        self.waits: dict[int, list[Any]] = {}

    def watch(self, *words: str) -> Outcome:
        """While the jobs change as in `waits`; then they are over."""
        own = self.cli.client._wait_for_job_change

        def change(job_id: int, fields: list[str], previous: Any, serial: int | None, wait: int) -> Any:
            answers = self.waits.get(job_id)
            if not answers:
                return own(job_id, fields, previous, serial, wait)
            answer = answers.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        self.cli.client.answers["WaitForJobChange"] = change
        return self.cli("gnt-job", "watch", *words)

    def test_interleaved(self) -> None:
        """Each line tells whose it is; the command ends with the last job, with success if all succeeded."""
        self.waits = {
            1: [[["running"], [[1, STAMP, "message", "one"]]], [["running"], [[2, STAMP, "message", "two"]]]],
            2: [[["running"], [[1, STAMP, "message", "other"]]]],
        }
        outcome = self.watch("1-2")
        lines = [line if "success" in line else line[:3] + line[28:] for line in outcome.out.splitlines()]
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.assertEqual(lines, ["1: one", "2: other", "1: two", "2: success", "1: success"])

    def test_failed(self) -> None:
        """One that fails or is not there is told of, and the others go on."""
        self.cli.client.results["OP_TEST_1"] = OpExecError("broken")
        outcome = self.watch("1", "9", "2")
        self.assertEqual((outcome.status, outcome.out), (1, "2: success\n"))
        self.assertIn("Job 1 failed: Failure: command execution error:\nbroken\n", outcome.err)
        self.assertIn("Cannot follow the job: No such job: 9\n", outcome.err)

    def test_interrupt(self) -> None:
        """Who leaves leaves the jobs alone."""
        self.waits = {1: [[["running"], []]], 2: [KeyboardInterrupt()]}
        outcome = self.watch("1", "2")
        self.assertIn("keep running", outcome.err)
        self.assertEqual({name for name, _args in self.cli.client.calls}, {"WaitForJobChange"})

    def test_all_running(self) -> None:
        """All that have not ended; one of them alone is shown as if it had been named; there may be none."""
        for found in ([1, 2], [1], []):
            rows = [[job_id] for job_id in found]
            asked: list[Any] = []
            self.cli.client.answers["Query"] = lambda *args, rows=rows, asked=asked: (
                asked.append(args) or answer_of(("id", "number", "ID"), rows=rows)
            )
            outcome = self.watch("--all-running")
            self.assertEqual(outcome.status, 0)
            self.assertEqual(asked, [("job", ["id"], GOES_ON)])
            first = {2: "1: success", 1: "Output from job 1 follows", 0: "No job is under way."}[len(found)]
            self.assertEqual(outcome.out.splitlines()[0], first)

    def test_documents(self) -> None:
        """How each has ended, as records; what the jobs say goes to standard error."""
        self.cli.client.results["OP_TEST_1"] = OpExecError("broken")
        self.waits = {2: [[["running"], [[1, STAMP, "message", "other"]]]]}
        outcome = self.watch("--output-format=json", "1", "9", "2")
        self.assertEqual((outcome.status, "2: " in outcome.err), (1, True))
        self.assertEqual(
            json.loads(outcome.out),
            [
                {"job": 1, "status": "error", "error": "Failure: command execution error:\nbroken"},
                {"job": 9, "status": None, "error": "Cannot follow the job: No such job: 9"},
                {"job": 2, "status": "success", "error": None},
            ],
        )
        self.assertEqual(json.loads(self.watch("--output-format=json", "1").out)[0]["status"], "error")
        outcome = self.cli("gnt-job", "wait", "--output-format=json", "2")
        self.assertEqual((outcome.status, json.loads(outcome.out)["status"]), (0, "success"))
        outcome = self.cli("gnt-job", "wait", "--output-format=json", "9")
        self.assertEqual((outcome.status, json.loads(outcome.out)["status"]), (1, None))

    def test_master_away(self) -> None:
        """When the master daemon stays away nothing is said of how the job has ended; it may have succeeded."""
        for verb in ("wait", "watch"):
            self.waits = {2: [NoMasterError("nobody listens")] * 100}
            self.watch("--output-format=json", "1")  # from now on the client answers so
            outcome = self.cli("gnt-job", verb, "--output-format=json", "2")
            ended = json.loads(outcome.out)
            (ended,) = ended if isinstance(ended, list) else [ended]
            self.assertEqual((outcome.status, ended["job"], ended["status"]), (1, 2, None))
            self.assertIn("nobody listens", ended["error"])
            self.assertIn("How job 2 ends is not known", outcome.err)

    def test_usage(self) -> None:
        """Ids or all, not both and not neither."""
        for words in ((), ("--all-running", "1")):
            outcome = self.watch(*words)
            self.assertEqual((outcome.status, self.cli.client.calls), (1, []))
            self.assertIn("wants either job ids", outcome.err)

    def test_ranges(self) -> None:
        """Each job once; what is no id, runs backwards or is too much is refused."""
        self.assertEqual(job_ranges(["7", "9-11", "10"]), [7, 9, 10, 11])
        for wrong in ("a", "3-1", "1-", "-3", "1-2-3", "1-1000000000000"):
            self.assertRaises(UsageError, job_ranges, [wrong])
        self.assertRaises(UsageError, job_ranges, ["1-900", "1001-1900"])
