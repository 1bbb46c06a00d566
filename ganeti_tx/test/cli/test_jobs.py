"""Tests of submitting jobs, following them, and the commands of gnt-job."""

import io
import re
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.job.archive import parse_age
from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.patience import PATIENCE
from ganeti_tx.cli.progress import follow, log_lines
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, JobCanceled, JobFileCorrupted, JobLost, OpExecError, OpPrereqError
from ganeti_tx.luxi import transport_errors
from ganeti_tx.test.cli.fakes import STAMP, CommandLine, FakeClient, Terminal, answer_of

NODE = "node1.example.com"
REMOVE = ("gnt-instance", "remove", "-f")


class SubmitTests(SynchronousTestCase):
    """A command that submits one job."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_follows(self) -> None:
        """The messages of the job come out with their times; success is silent."""
        self.cli.client.log = [
            [1, STAMP, "message", " - INFO: first"],
            [2, STAMP, "message-list", ["* second", "* third"]],
        ]
        outcome = self.cli(*REMOVE, "web1")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.assertEqual([line[24:] for line in outcome.out.splitlines()], ["  - INFO: first", " * second", " * third"])
        self.assertRegex(outcome.out, r"^(Tue|Wed) Nov 1[45] \d\d:13:20 2023 ")

    def test_opcode(self) -> None:
        """What was not given is left to the server; the reason trail holds the command."""
        self.cli(*REMOVE, "web1")
        self.assertEqual(self.cli.client.submitted, [{"OP_ID": "OP_INSTANCE_REMOVE", "instance_name": "web1"}])
        ((source, text, nanoseconds),) = self.cli.client.jobs[1][0]["reason"]
        self.assertEqual((source, text), ("gnt:client:gnt-instance", "remove"))
        self.assertIsInstance(nanoseconds, int)

    def test_common_options(self) -> None:
        """Reason, priority, dry run and debug level travel with the opcode."""
        self.cli(*REMOVE, "--reason", "too old", "--priority=high", "--dry-run", "-d", "web1")
        (op,) = self.cli.client.jobs[1]
        self.assertEqual(op["reason"][0][:2], ["gnt:user", "too old"])
        self.assertEqual((op["priority"], op["dry_run"], op["debug_level"]), (-10, True, 1))

    def test_submit(self) -> None:
        """With --submit the id is told on standard error, as by Ganeti, and nobody waits."""
        outcome = self.cli(*REMOVE, "--submit", "web1")
        self.assertEqual(outcome, (0, "", "JobID: 1\n"))
        self.assertEqual([name for name, _args in self.cli.client.calls], ["SubmitJob"])

    def test_print_jobid(self) -> None:
        """With --print-jobid the number alone is printed, then the job is followed."""
        self.assertEqual(self.cli(*REMOVE, "--print-jobid", "web1"), (0, "1\n", ""))
        self.assertEqual(len(self.cli.client.sent("WaitForJobChange")), 1)

    def test_print_jobid_of_submitted(self) -> None:
        """With --submit, too, the number alone is on standard output, for scripts."""
        self.assertEqual(self.cli(*REMOVE, "--submit", "--print-jobid", "web1"), (0, "1\n", "JobID: 1\n"))

    def test_failure(self) -> None:
        """The error of the opcode is the command's."""
        self.cli.client.results["OP_INSTANCE_REMOVE"] = OpPrereqError("Instance 'web1' not known", ECode.NOENT)
        outcome = self.cli(*REMOVE, "web1")
        self.assertEqual(outcome.status, 1)
        self.assertEqual(
            outcome.err,
            "Failure: prerequisites not met for this operation:\n"
            "error type: unknown_entity, error details:\nInstance 'web1' not known\n",
        )

    def test_question(self) -> None:
        """Without -f somebody must say yes; no or nobody there gives the exit status 1 and no job."""
        self.cli.client.answers["Query"] = lambda *_: answer_of(("name", "text", "Instance"), rows=[["web1"]])
        for stdin, status in (
            (Terminal("maybe\ny\n"), 0),
            (Terminal("\n"), 1),
            (Terminal(""), 1),
            (io.StringIO("y\n"), 1),
        ):
            self.cli.client.jobs.clear()
            outcome = self.cli("gnt-instance", "remove", "web1", stdin=stdin)
            self.assertEqual((outcome.status, len(self.cli.client.jobs)), (status, int(status == 0)))


class Script:
    """Answers of WaitForJobChange in turn; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    def __call__(self, *_args: Any) -> Any:
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


class FollowTests(SynchronousTestCase):
    """Following one job."""

    def setUp(self) -> None:
        self.client = FakeClient()
        self.client.jobs[5] = [{"OP_ID": "OP_TEST_DELAY"}, {"OP_ID": "OP_TEST_JQUEUE"}]
        self.slept: list[float] = []
        self.master = NODE
        self.out, self.err = io.StringIO(), Terminal()
        self.session = Session(
            program="gnt-job", command="watch", environ={"GANETI_HOSTNAME": NODE}, out=self.out, err=self.err, stdin=io.StringIO(),
            connect=lambda: self.client, run=lambda argv, document: 0, capture=lambda argv: (0, ""),
            sleep=self.slept.append, read=lambda path: self.master,
        )  # fmt: skip

    def script(self, *answers: Any) -> None:
        """What WaitForJobChange answers, in turn."""
        self.client.answers["WaitForJobChange"] = Script(*answers)

    def test_asks_for_what_is_new(self) -> None:
        """Each wait names what is known already, so that no message comes twice."""
        entries = [[1, STAMP, "message", "a"], [2, STAMP, "message", "b"]]
        self.script([["running"], entries], [["success"], []])
        follow(self.session, 5)
        self.assertEqual([args[2:4] for args in self.client.sent("WaitForJobChange")], [[None, None], [["running"], 2]])
        self.assertEqual(len(self.out.getvalue().splitlines()), 2)

    def test_says_why_it_waits(self) -> None:
        """On a terminal one line tells of the queue and one of the locks, however long it takes."""
        queued, waiting = [["queued"], []], [["waiting"], []]
        self.script(queued, queued, "nochange", waiting, waiting, waiting, [["success"], []])
        follow(self.session, 5)
        self.assertEqual(
            self.err.getvalue().splitlines(),
            ["Job 5 is waiting in the queue", "Job 5 is trying to acquire all necessary locks"],
        )

    def test_master_restarts(self) -> None:
        """A lost connection is tried again, each time later; an error of the server is not."""
        lost = transport_errors.NoMasterError("gone")
        self.script(lost, lost, [["success"], []])
        follow(self.session, 5)
        self.assertEqual(self.slept, [5.0, 10.0])
        self.script(JobLost("no such job"))
        self.assertRaises(JobLost, follow, self.session, 5)

    def test_another_master(self) -> None:
        """When another node has become the master, it is named at the next look, and the job to look for there."""
        self.script(*[transport_errors.NoMasterError("gone")] * 15)
        slept = self.slept

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            self.master = "node2.example.com"

        self.session.sleep = sleep
        error = self.assertRaises(transport_errors.NoMasterError, follow, self.session, 5)
        self.assertEqual(slept, [5.0])
        told = "This is not the master node, please connect to node 'node2.example.com' and rerun the command"
        self.assertTrue(str(error).startswith(told), error)
        self.assertIn("'gnt-job watch 5'", str(error))

    def test_short_name(self) -> None:
        """A master whose system knows the first part of its name only takes itself for no other."""
        self.session.environ = {"GANETI_HOSTNAME": "node1"}
        self.script(transport_errors.NoMasterError("gone"), [["success"], []])
        follow(self.session, 5)
        self.session.environ = {"GANETI_HOSTNAME": "node"}
        self.script(transport_errors.NoMasterError("gone"))
        self.assertRaises(transport_errors.NoMasterError, follow, self.session, 5)

    def test_gives_up(self) -> None:
        """Not for ever, though."""
        self.script(*[transport_errors.NoMasterError("gone")] * 15)
        self.assertRaises(transport_errors.NoMasterError, follow, self.session, 5)
        self.assertEqual(
            (self.slept[:3], self.slept[-2:], sum(self.slept)), ([5.0, 10.0, 15.0], [50.0, 25.0], PATIENCE)
        )

    def test_interrupt(self) -> None:
        """Who leaves is told how to see the job again; the job is left alone."""
        self.script(KeyboardInterrupt())
        self.assertRaises(KeyboardInterrupt, follow, self.session, 5)
        self.assertIn("'gnt-job watch 5'", self.err.getvalue())
        self.assertEqual(self.client.sent("CancelJob"), [])

    def test_disappears(self) -> None:
        """A job without a status is lost."""
        self.script([[None], []])
        self.assertRaises(JobLost, follow, self.session, 5)

    def outcome(self, status: str, statuses: list[str], results: list[Any]) -> None:
        """How the job ended."""
        self.script([[status], []])
        self.client.answers["QueryJobs"] = lambda *_: [[status, statuses, results]]

    def test_results(self) -> None:
        """Success gives the results of all opcodes."""
        self.outcome("success", ["success", "success"], [None, [1]])
        self.assertEqual(follow(self.session, 5), [None, [1]])

    def test_cancelled(self) -> None:
        """A cancelled job is an error of its own."""
        self.outcome("canceled", ["canceled", "canceled"], [None, None])
        self.assertRaises(JobCanceled, follow, self.session, 5)

    def test_error_classes(self) -> None:
        """The class of the error comes back; a plain text is a failure to execute."""
        refused = ["OpPrereqError", ["no", "wrong_state"]]
        for raw, kind in ((refused, OpPrereqError), ("rejected", OpExecError)):
            self.outcome("error", ["error", "error"], [raw, raw])
            self.assertRaises(kind, follow, self.session, 5)

    def test_partial_failure(self) -> None:
        """When opcodes before had succeeded, the error says which one failed."""
        self.outcome("error", ["success", "error"], [None, ["OpExecError", ["broken"]]])
        error = self.assertRaises(OpExecError, follow, self.session, 5)
        self.assertEqual(str(error), "partial failure (opcode 2 of 2): broken")

    def test_other_log_types(self) -> None:
        """A message that is no text is shown as it is."""
        self.assertTrue(log_lines([1, STAMP, "remote-import", {"a": 1}])[0].endswith(" {'a': 1}"))


class StepTests(SynchronousTestCase):
    """Steps of a job's work."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.jobs[1] = [{"OP_ID": "OP_TEST_DELAY"}]
        begun = {"step": 1, "of": 2, "title": "stop the instance", "state": "begun", "nodes": ["node1"], "left": 120.0}
        skipped = {"step": 2, "of": 2, "title": "shut down its disks", "state": "skipped"}
        undone = {"title": "mark instance web1 as up again", "state": "taken back"}
        self.cli.client.log = [
            [serial, STAMP, "step", payload] for serial, payload in enumerate((begun, skipped, undone, {"a": 1}), 1)
        ]

    def test_watch(self) -> None:
        """watch tells them in words, and what it does not know as it is."""
        lines = self.cli("gnt-job", "watch", "1").out.splitlines()[2:]
        words = [
            "Step 1 of 2: stop the instance (on node1), at most 120 s",
            "Step 2 of 2: shut down its disks: skipped",
        ]
        words += ["Taken back: mark instance web1 as up again", "{'a': 1}"]
        self.assertEqual([line[25:] for line in lines], words)

    def test_other_commands(self) -> None:
        """Commands print what Ganeti's do, and no steps."""
        self.assertNotIn("Step", self.cli("gnt-debug", "delay", "0").out)


class JobCommandTests(SynchronousTestCase):
    """gnt-job."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.jobs[1] = [{"OP_ID": "OP_TEST_DELAY"}]

    def test_watch(self) -> None:
        """watch shows the messages, wait does not."""
        self.cli.client.log = [[1, STAMP, "message", "hello"]]
        outcome = self.cli("gnt-job", "watch", "1")
        self.assertEqual((outcome.status, outcome.out.splitlines()[:2]), (0, ["Output from job 1 follows", "-" * 25]))
        self.assertIn(" hello\n", outcome.out)
        self.assertEqual(self.cli("gnt-job", "wait", "1"), (0, "", ""))

    def test_watch_failure(self) -> None:
        """The failure of the job is that of the command; so is a job that is not there."""
        self.cli.client.results["OP_TEST_DELAY"] = OpExecError("broken")
        for command in ("watch", "wait"):
            outcome = self.cli("gnt-job", command, "1")
            self.assertEqual(outcome.status, 1)
            self.assertIn("Job 1 failed: Failure: command execution error:\nbroken", outcome.err)
        self.assertEqual(self.cli("gnt-job", "wait", "9").err, "Cannot follow the job: No such job: 9\n")

    def test_archive(self) -> None:
        """A job that cannot be archived is named, the others are archived."""
        self.cli.client.answers["ArchiveJob"] = lambda job_id: job_id != 2
        outcome = self.cli("gnt-job", "archive", "1", "2", "3")
        self.assertEqual(outcome.status, 1)
        self.assertIn("job with ID 2:", outcome.err)
        self.assertEqual(self.cli.client.sent("ArchiveJob"), [[1], [2], [3]])

    def test_autoarchive(self) -> None:
        """The age goes over as seconds."""
        self.cli.client.answers["AutoArchiveJobs"] = lambda age, timeout: [3, 1]
        self.assertEqual(self.cli("gnt-job", "autoarchive", "1d").out, "Archived 3 jobs, 1 unchecked left\n")
        self.assertEqual(self.cli.client.sent("AutoArchiveJobs")[0][0], 86400)

    def test_ages(self) -> None:
        """Ages have units, the word all stands for any."""
        self.assertEqual([parse_age(text) for text in ("90", "2m", "1h", "1w", "all")], [90, 120, 3600, 604800, -1])
        for text in ("", "d", "1y", "-1", "9" * 5000):
            self.assertRaises(UsageError, parse_age, text)

    def test_cancel(self) -> None:
        """The server's words are shown; one refusal makes a failure."""
        self.cli.client.answers["CancelJob"] = lambda job_id, kill: [job_id == 1, f"about {job_id}"]
        self.assertEqual(self.cli("gnt-job", "cancel", "1"), (0, "about 1\n", ""))
        self.assertEqual(self.cli("gnt-job", "cancel", "2", "1"), (1, "about 2\nabout 1\n", ""))

    def test_kill(self) -> None:
        """--kill wants a second word."""
        self.cli.client.answers["CancelJob"] = lambda job_id, kill: [True, ""]
        self.assertEqual(self.cli("gnt-job", "cancel", "--kill", "1").status, 1)
        self.assertEqual(self.cli("gnt-job", "cancel", "--kill", "--yes-do-it", "1").status, 0)
        self.assertEqual(self.cli.client.sent("CancelJob"), [[1, True]])

    def test_by_status(self) -> None:
        """Jobs in a status are listed and asked about, unless forced."""
        self.cli.client.answers["CancelJob"] = lambda job_id, kill: [True, f"about {job_id}"]
        fields = (("id", "number", "ID"), ("status", "text", "Status"), ("summary", "other", "Summary"))
        self.cli.client.answers["Query"] = lambda *_: answer_of(*fields, rows=[[3, "queued", ["TEST_DELAY(1)"]]])
        self.assertEqual(self.cli("gnt-job", "cancel", "--queued", "-f"), (0, "about 3\n", ""))
        asked = self.cli("gnt-job", "cancel", "--pending", stdin=Terminal("y\n"))
        self.assertIn("3 queued TEST_DELAY(1)", " ".join(asked.out.split()))
        self.assertEqual(self.cli("gnt-job", "cancel", "--pending").status, 13)
        self.assertEqual(self.cli("gnt-job", "cancel", "--pending", "3").status, 1)
        self.assertEqual(self.cli("gnt-job", "cancel").status, 1)

    def test_priority(self) -> None:
        """A priority by name goes over as its number."""
        self.cli.client.answers["ChangeJobPriority"] = lambda job_id, priority: [True, "done"]
        self.assertEqual(self.cli("gnt-job", "change-priority", "--priority", "low", "4").status, 0)
        self.assertEqual(self.cli.client.sent("ChangeJobPriority"), [[4, 10]])
        self.assertIn("--priority is missing", self.cli("gnt-job", "change-priority", "4").err)

    def test_info(self) -> None:
        """All about a job, and a job that is not there."""
        op = {"OP_ID": "OP_TEST_DELAY", "duration": 1.0, "on_nodes": [], "nics": [{}]}
        row = [1, "success", [op], [None], ["success"], [[[1, STAMP, "message", "hi"]]], [[1, 0]], [[1, 5]], [[2, 0]]]
        rows = {1: [*row, [1, 0], [1, 0], [3, 500000]], 9: [9, *[None] * 11]}
        self.cli.client.answers["QueryJobs"] = lambda ids, fields: [rows[job_id] for job_id in ids]
        outcome = self.cli("gnt-job", "info", "9", "1")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        missing, out = outcome.out.split("\n", 1)
        self.assertEqual(missing, "- Job ID 9 not found")
        shown = re.sub(r"(\d+-\d+-\d+|\w{3} \w{3} \d+) \d\d:(\d\d:\d\d)( 2023)?", r"TIME \2", out)
        self.assertEqual(shown, JOB_INFO)

    def test_info_running(self) -> None:
        """What has not come yet has Ganeti's words."""
        row = [1, "running", [{"OP_ID": "OP_TEST_DELAY"}], [None], ["running"], [[]], [[1, 0]], [None], [None]]
        self.cli.client.answers["QueryJobs"] = lambda ids, fields: [[*row, [1, 0], [1, 0], None]]
        lines = self.cli("gnt-job", "info", "1").out.splitlines()
        for line in ("  Processing end:   unknown (None)", "      Execution start:  N/A", "      Result: None"):
            self.assertIn(line, lines)

    def test_info_damaged(self) -> None:
        """A job whose file is damaged is named with the reason, and the next one is shown."""

        def query(ids: list[int], fields: list[str]) -> Any:
            if ids == [2]:
                raise JobFileCorrupted("job 2 cannot be shown: it is torn")
            return [[ids[0], "success", *[[]] * 7, None, None, None]]

        self.cli.client.answers["QueryJobs"] = query
        outcome = self.cli("gnt-job", "info", "2", "3")
        self.assertEqual((outcome.status, outcome.err), (1, "job 2 cannot be shown: it is torn\n"))
        self.assertEqual(outcome.out.splitlines()[0], "- Job ID: 3")


#: As Ganeti's own command shows such a job.
JOB_INFO = """\
- Job ID: 1
  Status: success
  Received:         TIME 00:01.000000
  Processing start: TIME 00:01.000000 (delta 0.000000s)
  Processing end:   TIME 00:03.500000 (delta 2.500000s)
  Total processing time: 2.500000 seconds
  Opcodes:~
    - Opcode: OP_TEST_DELAY
      Status: success
      Processing start: TIME 00:01.000000
      Execution start:  TIME 00:01.000005
      Processing end:   TIME 00:02.000000
      Input fields:~
        OP_ID: OP_TEST_DELAY
        duration: 1
        nics:~
          -~
        on_nodes:~
      Result: None
      Execution log:~
        - Time: TIME 13:20.250000
          Content: [1, message, hi]
""".replace("~", " ")
