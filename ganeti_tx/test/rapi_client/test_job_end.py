"""Waiting for the end of a job, with answers told beforehand and a clock that is told too."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, GenericError, JobCanceled, JobLost, OpExecError, OpPrereqError
from ganeti_tx.rapi_client.actions.job_end import PERIOD, wait_for_job, wait_for_job_completion
from ganeti_tx.rapi_client.backoff import MAX_FAILURES
from ganeti_tx.rapi_client.cache import Cache
from ganeti_tx.rapi_client.course import course
from ganeti_tx.rapi_client.errors import AnswerError, CertificateError, NoAnswerError, RapiError, StillRunningError
from ganeti_tx.rapi_client.message import Message, Now, Pause, Reply


def change(status: str, *serials: int) -> Reply:
    """The answer that a job has changed."""
    return Reply(
        200, {}, json.dumps({"job_info": [status], "log_entries": [[each, 0, "", ""] for each in serials]}).encode()
    )


def job(status: str | None, **fields: Any) -> Reply:
    """The answer that shows a job."""
    return Reply(200, {}, json.dumps({"id": 7, "status": status, **fields}).encode())


SAME = Reply(200, {}, b"null")
LOST = Reply(404, {}, b"{}")
FORBIDDEN = Reply(403, {}, b"{}")


class JobEndTests(SynchronousTestCase):
    """Whatever becomes of a job."""

    def setUp(self) -> None:
        self.time = 0.0
        self.asked: list[Any] = []

    def run_it(self, action: Any, *answers: Reply | NoAnswerError) -> Any:
        """The result with these answers; each takes ten seconds."""
        left = list(answers)
        steps = course(action, Cache(), retries=0)
        came: Any = None
        while True:
            try:
                step = steps.throw(came) if isinstance(came, NoAnswerError) else steps.send(came)
            except StopIteration as end:
                self.assertEqual(left, [])
                return end.value
            match step:
                case Now():
                    came = self.time
                case Pause(seconds):
                    self.asked.append(seconds)
                    came = None
                case Message():
                    self.asked.append(json.loads(step.body) if step.body else step.target)
                    self.time += 10
                    came = left.pop(0)

    def test_success(self) -> None:
        """It waits for changes of the status, each time with what it knows, and then shows the job."""
        done = self.run_it(
            wait_for_job(7),
            change("queued"),
            SAME,
            change("running", 1, 2),
            change("success"),
            job("success", opresult=[3]),
        )
        self.assertEqual((done.status, done.opresult), ("success", (3,)))
        known = [(each["previous_job_info"], each["previous_log_serial"]) for each in self.asked[:-1]]
        self.assertEqual(known, [(None, None), (["queued"], None), (["queued"], None), (["running"], 2)])

    def test_failure(self) -> None:
        """The error of the opcode that failed is raised as its class."""
        failed = job(
            "error", opstatus=["success", "error"], opresult=[1, ["OpPrereqError", ["no such", "unknown_entity"]]]
        )
        error = self.assertRaises(OpPrereqError, self.run_it, wait_for_job(7), change("error"), failed)
        self.assertEqual((str(error), error.ecode), ("no such", ECode.NOENT))

    def test_failure_without_reason(self) -> None:
        """A job that failed somehow is an error too."""
        self.assertRaises(OpExecError, self.run_it, wait_for_job(7), change("error"), job("error"))
        odd = job("error", opstatus=["error"], opresult=["odd"])
        self.assertRaises(GenericError, self.run_it, wait_for_job(7), change("error"), odd)

    def test_cancelled(self) -> None:
        """A cancelled job is an error of its own."""
        self.assertRaises(JobCanceled, self.run_it, wait_for_job(7), change("canceled"), job("canceled"))

    def test_lost(self) -> None:
        """So is one that is not there."""
        self.assertRaises(JobLost, self.run_it, wait_for_job(7), LOST, job(None))
        self.assertRaises(JobLost, self.run_it, wait_for_job(7), LOST, LOST)
        self.assertRaises(JobLost, self.run_it, wait_for_job(7), change("success"), job(None))

    def test_archived(self) -> None:
        """A job that was archived while somebody waited for it is shown as it ended."""
        done = self.run_it(wait_for_job(7), change("running"), LOST, job("success"), job("success", opresult=[3]))
        self.assertEqual(done.opresult, (3,))

    def test_restarts(self) -> None:
        """Daemons may be started again meanwhile, at any moment, time after time."""
        gone, down = NoAnswerError("lost"), Reply(502, {}, b"{}")
        answers: list[Reply | NoAnswerError] = [
            gone,
            down,
            change("running"),
            *[down] * MAX_FAILURES,
            change("success"),
            gone,
            job("success"),
        ]
        self.assertEqual(self.run_it(wait_for_job(7), *answers).status, "success")
        pauses = [each for each in self.asked if isinstance(each, float)]
        self.assertEqual((pauses[:4], pauses[-1]), ([1, 2, 1, 2], 1))

    def test_server_stays_away(self) -> None:
        """The backoff has an end, as has the limit meanwhile; a certificate that is not trusted is told at once."""
        gone = NoAnswerError("lost")
        self.assertRaises(NoAnswerError, self.run_it, wait_for_job(7), *[gone] * (MAX_FAILURES + 1))
        self.assertRaises(StillRunningError, self.run_it, wait_for_job(7, limit=15), gone, gone)
        self.assertRaises(CertificateError, self.run_it, wait_for_job(7), CertificateError("other"))

    def test_limit(self) -> None:
        """The waiting has a limit; the text says how the job was."""
        error = self.assertRaises(StillRunningError, self.run_it, wait_for_job(7, limit=15), change("running"), SAME)
        self.assertIn("running", str(error))

    def test_who_may_only_read(self) -> None:
        """Who may not wait looks from time to time."""
        done = self.run_it(
            wait_for_job(7), FORBIDDEN, job("running"), FORBIDDEN, job("success"), job("success", opresult=[])
        )
        self.assertEqual(done.status, "success")
        self.assertEqual([each for each in self.asked if isinstance(each, float)], [PERIOD])
        self.assertRaises(JobLost, self.run_it, wait_for_job(7), FORBIDDEN, job(None))

    def test_other_errors(self) -> None:
        """Other errors of the server are passed on."""
        self.assertRaises(RapiError, self.run_it, wait_for_job(7), Reply(500, {}, b"{}"))

    def test_odd_status(self) -> None:
        """A status that is none is an error of the answer."""
        for body in (b'{"job_info": []}', b'{"job_info": [["success"]]}', b'{"job_info": [null]}'):
            self.assertRaises(AnswerError, self.run_it, wait_for_job(7), Reply(200, {}, body))

    def test_completion(self) -> None:
        """The other library's form says only whether it went well in time."""
        self.assertIs(self.run_it(wait_for_job_completion(7), change("success"), job("success")), True)
        self.assertIs(self.run_it(wait_for_job_completion(7), change("error"), job("error")), False)
        self.assertIs(self.run_it(wait_for_job_completion(7), LOST, LOST), False)
        self.assertIs(self.run_it(wait_for_job_completion(7, period=1, retries=5), change("running")), False)
