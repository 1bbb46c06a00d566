"""Tests of the commands of gnt-debug."""

import json
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpExecError
from ganeti_tx.test.cli.fakes import STAMP, CommandLine, answer_of


class DebugTests(SynchronousTestCase):
    """delay, locks and submit-job."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_wrong_mode(self) -> None:
        """The modes of an allocator are named as they are typed."""
        outcome = self.cli("gnt-debug", "iallocator", "--mode=multi-evacuate", "web1")
        self.assertEqual(outcome.status, 2)
        self.assertIn("invalid choice: 'multi-evacuate' (choose from 'allocate', 'allocate-secondary',", outcome.err)

    def test_delay(self) -> None:
        """The delay takes locks unless told otherwise, other than the opcode's own default."""
        self.cli("gnt-debug", "delay", "0.5")
        self.cli("gnt-debug", "delay", "--no-master", "-n", "node1", "-n", "node2", "-r", "2", "-l", "-i", "1")
        self.assertEqual(
            self.cli.client.submitted,
            [
                {"OP_ID": "OP_TEST_DELAY", "duration": 0.5, "no_locks": False},
                {
                    "OP_ID": "OP_TEST_DELAY", "duration": 1.0, "on_master": False, "on_nodes": ["node1", "node2"],
                    "repeat": 2, "no_locks": True, "interruptible": True,
                },
            ],
        )  # fmt: skip
        self.assertEqual(self.cli("gnt-debug", "delay", "soon").status, 1)

    def test_locks(self) -> None:
        """Owners and those who wait are readable; nobody is a dash."""
        self.cli.client.answers["Query"] = lambda *_: answer_of(
            *((name, "other", name) for name in ("name", "mode", "owner", "pending")),
            rows=[
                ["cluster/BGL", "shared", ["job1", "job2"], [["exclusive", ["job3"]], ["shared", ["job4", "job5"]]]],
                ["node/node1", None, None, []],
            ],
        )
        self.assertEqual(
            self.cli("gnt-debug", "locks", "--separator= ", "--no-headers").out.splitlines(),
            ["cluster/BGL shared job1,job2 exclusive:job3;shared:job4,job5", "node/node1 - - -"],
        )
        self.assertEqual(self.cli("gnt-debug", "locks", "--interval=0").status, 1)

    def test_submit_job(self) -> None:
        """Each file is a job; opcodes and jobs may be repeated."""
        path = Path(self.mktemp())
        path.write_text(json.dumps([{"OP_ID": "OP_TEST_DELAY", "duration": 0}]))
        outcome = self.cli(
            "gnt-debug", "submit-job", "-v", "--op-repeat=2", "--job-repeat=2", "--timing-stats", str(path)
        )
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.assertEqual([len(ops) for ops in self.cli.client.jobs.values()], [2, 2])
        self.assertIn("Submitted jobs 1, 2\n", outcome.out)
        self.assertEqual(
            [line for line in outcome.out.splitlines() if line.startswith("W")],
            [f"Waiting for job {number} for file {path}/{number - 1} ..." for number in (1, 2)],
        )
        self.assertIn("\nC:op        4\nC:job       2\nT:submit ", outcome.out)
        self.cli("gnt-debug", "submit-job", "--each", str(path), str(path))
        self.assertEqual(len(self.cli.client.sent("SubmitJob")), 2)

    def test_submit_job_refused(self) -> None:
        """A file that holds no opcodes is named."""
        for text in ("{", "{}", "[1]", '[{"duration": 1}]', "[" * 100000):
            path = Path(self.mktemp())
            path.write_text(text)
            outcome = self.cli("gnt-debug", "submit-job", str(path))
            self.assertEqual((outcome.status, self.cli.client.jobs), (1, {}))
            self.assertIn(str(path), outcome.err)
        self.assertEqual(self.cli("gnt-debug", "submit-job", "--op-repeat=0", "x").status, 1)


class JobQueueTests(SynchronousTestCase):
    """test-jobqueue against a queue that is right, and against wrong ones."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.client = self.cli.client
        self.archived: set[int] = set()
        self.messages = ["first", "second", "third"]
        self.cancelled: set[int] = set()
        self.client.answers.update(QueryJobs=self.query_jobs, ArchiveJob=self.archive, CancelJob=self.cancel)

    def query_jobs(self, job_ids: list[int], fields: list[str]) -> list[Any]:
        """A job fails if an opcode asks for it; messages come out as they went in."""
        return [[self.field(job_id, field) for field in fields] for job_id in job_ids]

    def field(self, job_id: int, field: str) -> Any:
        """One field of a job."""
        ops = self.client.jobs[job_id]
        status = "canceled" if job_id in self.cancelled else "error" if any(op.get("fail") for op in ops) else "success"
        log = [[serial, STAMP, "message", text] for serial, text in enumerate(self.messages, 1)]
        return {
            "status": status,
            "opstatus": [status] * len(ops),
            "opresult": [["OpExecError", ["asked for"]] if status == "error" else True] * len(ops),
            "oplog": [log],
        }[field]

    def archive(self, job_id: int) -> bool:
        """Once."""
        known = job_id in self.archived
        self.archived.add(job_id)
        return not known

    def cancel(self, job_id: int, kill: bool) -> list[Any]:
        """Always."""
        self.cancelled.add(job_id)
        return [True, "canceled"]

    def test_right(self) -> None:
        """A queue that is right passes."""
        outcome = self.cli("gnt-debug", "test-jobqueue")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.assertEqual(outcome.out.splitlines()[-1], "All checks passed")

    def test_order(self) -> None:
        """Messages in another order are found out."""
        self.messages = ["second", "first", "third"]
        self.assertIn("Test of the job queue failed: messages", self.cli("gnt-debug", "test-jobqueue").err)

    def test_cancel(self) -> None:
        """So is a job that runs although it was cancelled."""
        self.client.answers["CancelJob"] = lambda job_id, kill: [True, "canceled"]
        self.assertIn("expected JobCanceled", self.cli("gnt-debug", "test-jobqueue").err)

    def test_failure(self) -> None:
        """So is any other failure of the queue."""
        self.client.results["OP_TEST_JQUEUE"] = OpExecError("broken")
        del self.client.answers["QueryJobs"]
        self.assertEqual(self.cli("gnt-debug", "test-jobqueue").status, 1)
