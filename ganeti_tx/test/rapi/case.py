"""The ground of tests of single operations."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.test.rapi.calls import request
from ganeti_tx.test.rapi.recording import RecordingLuxi

JOB_ID = 17


class OperationCase(SynchronousTestCase):
    """Sends requests past HTTP to operations that ask a recording LUXI."""

    def setUp(self) -> None:
        self.luxi = RecordingLuxi({"SubmitJob": JOB_ID})

    def send(self, method: str, address: str, body: Any = None) -> Any:
        """What the operation gives."""
        call = request(self.luxi, method, address, body)
        work = call.operation.run(call)
        return self.successResultOf(Deferred.fromCoroutine(work))  # type: ignore[arg-type]

    def submitted(self, method: str, address: str, body: Any = None) -> dict[str, Any]:
        """The one opcode of the job that the request submits, without its reasons."""
        (op,) = self.submitted_all(method, address, body)
        return {name: value for name, value in op.items() if name != "reason"}

    def submitted_all(self, method: str, address: str, body: Any = None) -> list[dict[str, Any]]:
        """All opcodes of the job that the request submits."""
        self.luxi.asked.clear()
        self.assertEqual(self.send(method, address, body), JOB_ID)
        return self.luxi.opcodes

    def failure(self, method: str, address: str, body: Any = None) -> HttpError:
        """Why the request is refused."""
        call = request(self.luxi, method, address, body)
        work = call.operation.run(call)
        error = self.failureResultOf(Deferred.fromCoroutine(work), HttpError).value  # type: ignore[arg-type]
        assert isinstance(error, HttpError)
        self.assertNotIn("\n", str(error))
        return error

    def refused(self, method: str, address: str, body: Any = None, status: int = 400) -> str:
        """The message of the request's refusal; nothing has been submitted."""
        self.luxi.asked.clear()
        error = self.failure(method, address, body)
        self.assertEqual(error.status, status, str(error))
        self.assertNotIn("SubmitJob", [method for method, _ in self.luxi.asked])
        return str(error)
