"""What the Remote API's callers submit, and what of it they are shown."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.methods import METHODS
from ganeti_tx.model.scope import SCOPES_SOURCE
from ganeti_tx.model.signature import CALLER_SOURCE, callers_of, signature_of
from ganeti_tx.rapi.access.judged_jobs import RememberedJobs
from ganeti_tx.rapi.access.signed_calls import UNSIGNED, calls_of
from ganeti_tx.rapi.caller import Caller, IGate
from ganeti_tx.test.rapi.access.gates import MemoryGate, basic
from ganeti_tx.test.rapi.requests import FakeLuxi, OpenGate, Rapi

PATH = "/2/instances/web1/shutdown"
SAID = ["gnt:user", "why", 1]
SIGNED = {
    "OP_ID": "OP_TEST_DELAY",
    "reason": [SAID, [CALLER_SOURCE, "token:ci", 1], [SCOPES_SOURCE, "tag=web", 1]],
}
SHOWN = {"OP_ID": "OP_TEST_DELAY", "reason": [SAID]}


class SubmissionTests(SynchronousTestCase):
    """Each job bears who asked for it."""

    def reasons(self, gate: IGate, authorization: str | None = None, body: Any = None) -> list[list[Any]]:
        """The reason trail of what a request submits."""
        luxi = FakeLuxi({"SubmitJob": 1})
        headers = {} if authorization is None else {"Authorization": authorization}
        answer = Rapi(luxi=luxi, gate=gate).request("PUT", PATH, body or {}, headers)
        self.assertEqual(answer.status, 200, answer.body)
        ((_, (ops,)),) = luxi.calls
        return list(ops[0]["reason"])

    def test_users(self) -> None:
        """A user without scopes, too."""
        reasons = self.reasons(MemoryGate({"users": "jack pw write"}).gate, basic("jack", "pw"))
        self.assertEqual([entry[:2] for entry in signature_of(reasons)], [[CALLER_SOURCE, "jack"]])

    def test_forged(self) -> None:
        """What callers say of others, or to be taken for others, is taken out, and what else they say is kept."""
        forged = {"reason": [[CALLER_SOURCE, "ann", 1], SAID, [SCOPES_SOURCE, "tag=x", 1], [CALLER_SOURCE, "jack", 1]]}
        reasons = self.reasons(OpenGate("jack"), body=forged)
        self.assertEqual([entry[:2] for entry in signature_of(reasons)], [[CALLER_SOURCE, "jack"]])
        self.assertIn(SAID, reasons)
        self.assertEqual(callers_of([{"reason": reasons}]), {"jack"})

    def test_no_other_way(self) -> None:
        """Nothing that takes opcodes is passed on without."""
        submitting = {method.name for method in METHODS if any("opcode" in param.meaning for param in method.params)}
        self.assertEqual(submitting, {"SubmitJob", *UNSIGNED})
        luxi = FakeLuxi()
        calls = calls_of(luxi, Caller("jack"), 1, RememberedJobs(luxi))
        for method in UNSIGNED:
            self.failureResultOf(Deferred.fromCoroutine(calls.call(method, [[SHOWN]])), ValueError)
        self.assertEqual(luxi.calls, [])


class ShownTests(SynchronousTestCase):
    """Nobody is shown who asked for a job."""

    def setUp(self) -> None:
        """One job, asked for with a token."""
        self.luxi = FakeLuxi({"QueryJobs": lambda ids, fields: [[self.value(name) for name in fields]]})
        self.rapi = Rapi(luxi=self.luxi)

    def value(self, field: str) -> Any:
        """A field of it."""
        return {"id": 7, "ops": [SIGNED, SHOWN], "status": "queued"}.get(field)

    def test_shown(self) -> None:
        """Alone and in the list."""
        for path in ("/2/jobs/7", "/2/jobs?bulk=1"):
            answer = self.rapi.request("GET", path)
            job = answer.json[0] if isinstance(answer.json, list) else answer.json
            self.assertEqual((job["id"], job["ops"]), (7, [SHOWN, SHOWN]))
            self.assertNotIn(b"token:ci", answer.body)

    def test_query(self) -> None:
        """Nor by queries; of one that cannot be read nothing is changed."""
        data = [[[0, 7], [0, [SIGNED]]], [[0, 8], [3, None]]]
        self.luxi.answers["Query"] = {"fields": [], "data": data}
        self.assertEqual(
            self.rapi.request("GET", "/2/query/job?fields=id,ops").json["data"],
            [[[0, 7], [0, [SHOWN]]], [[0, 8], [3, None]]],
        )

    def test_wait(self) -> None:
        """Nor by waiting; who waits for what differs from what he was shown is not answered at once."""
        self.luxi.answers["WaitForJobChange"] = lambda *args: [["queued", [SIGNED]], []]
        self.luxi.answers["QueryJobs"] = [[[SIGNED]]]
        wait = {"fields": ["status", "ops"], "previous_job_info": None}
        answer = self.rapi.request("GET", "/2/jobs/7/wait", wait).json
        self.assertEqual(answer["job_info"], ["queued", [SHOWN]])
        self.rapi.request("GET", "/2/jobs/7/wait", {**wait, "previous_job_info": answer["job_info"]})
        self.assertEqual(self.luxi.calls[-1][1][2], ["queued", [SIGNED]])
