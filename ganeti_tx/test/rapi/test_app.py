"""Operations as routes: what is found, read and answered."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.closed_gate import ClosedGate
from ganeti_tx.rapi.operation import Call, Operation
from ganeti_tx.test.rapi.requests import Rapi


async def echo(call: Call) -> object:
    """What was understood of a request."""
    return {"parts": dict(call.parts), "arguments": dict(call.arguments), "body": call.body, "who": call.caller.name}


def operation(method: str, path: str, access: frozenset[str] = frozenset()) -> Operation:
    """One that answers with what it was given."""
    return Operation(method, path, "echo", access, echo, "Echo", {})  # type: ignore[arg-type]


ECHOES = (
    operation("GET", "/2/instances"),
    operation("GET", "/2/instances/{instance_name}"),
    operation("PUT", "/2/instances/{instance_name}", frozenset({"write"})),
    operation("GET", "/2/jobs/{job_id}"),
)


class RouteTests(SynchronousTestCase):
    """From bytes to an operation and back."""

    def setUp(self) -> None:
        self.rapi = Rapi(operations=ECHOES)

    def test_real_table(self) -> None:
        """The version of the Remote API is 2."""
        answer = Rapi().get("/version")
        self.assertEqual(
            (answer.status, answer.body, answer.headers["content-type"]), (200, b"2\n", "application/json")
        )

    def test_parts_and_arguments(self) -> None:
        """Names in the path, all values of all arguments and the body reach the operation."""
        answer = self.rapi.request("PUT", "/2/instances/web1.example?tag=a&tag=b&force=", {"x": [1]})
        self.assertEqual(
            answer.json,
            {
                "parts": {"instance_name": "web1.example"},
                "arguments": {"tag": ["a", "b"], "force": [""]},
                "body": {"x": [1]},
                "who": "tester",
            },
        )

    def test_unknown(self) -> None:
        """What is not there gives 404 with the stock body; so does a slash at the end, and what is no number."""
        for path in ("/3", "/2/instances/", "//2/instances", "/2/jobs/abc", "/2/instances/a%2fb", "/2/instances/a/b"):
            answer = self.rapi.get(path)
            self.assertEqual((path, answer.status), (path, 404))
        self.assertEqual(
            answer.body, b'{"code": 404, "message": "Not Found", "explain": "Nothing matches the given URI"}\n'
        )

    def test_lacking_method(self) -> None:
        """A method that a resource lacks is not implemented."""
        self.assertEqual(self.rapi.request("POST", "/2/instances").status, 501)

    def test_closed(self) -> None:
        """Without users only what is open to everybody can be done."""
        rapi = Rapi(operations=ECHOES, gate=ClosedGate())
        refused = rapi.request("PUT", "/2/instances/web1")
        self.assertEqual(
            (refused.status, refused.headers["www-authenticate"]), (401, 'Basic realm="Ganeti Remote API"')
        )
        self.assertEqual(rapi.get("/2/instances").status, 200)
