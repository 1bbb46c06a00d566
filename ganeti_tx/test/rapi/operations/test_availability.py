"""Operations that this version cannot do, asked for over HTTP."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpCodeUnknown
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model.opcodes import OPCODES
from ganeti_tx.rapi.resources.table import OPERATIONS, served_operations
from ganeti_tx.test.rapi.requests import FakeLuxi, Rapi

WEB = "/2/instances/web1"
WITHOUT_REINSTALL = {
    kind: unit for kind, unit in UNITS.items() if kind.op_id() not in ("OP_INSTANCE_REINSTALL", "OP_INSTANCE_REMOVE")
}


class AvailabilityTests(SynchronousTestCase):
    """What is there follows from the opcodes for which there are logical units."""

    def setUp(self) -> None:
        self.luxi = FakeLuxi({"SubmitJob": 7})
        self.rapi = Rapi(served_operations(WITHOUT_REINSTALL), self.luxi)

    def test_refused(self) -> None:
        """501, with what is missing, whatever the body is; nothing of the job is submitted."""
        for body in (None, {"os": "noop"}, {"nonsense": 1}):
            answer = self.rapi.request("POST", f"{WEB}/reinstall", body)
            self.assertEqual(answer.status, 501)
            self.assertIn("it needs OP_INSTANCE_REINSTALL", answer.json["message"])
        self.assertEqual(self.rapi.request("DELETE", WEB).status, 501)
        self.assertEqual(self.luxi.calls, [])

    def test_the_others(self) -> None:
        """All else is served as ever."""
        self.assertEqual(self.rapi.request("PUT", f"{WEB}/startup").json, 7)

    def test_not_described(self) -> None:
        """The description has what can be done, and only that, itself included."""
        paths = self.rapi.request("GET", "/openapi.json").json["paths"]
        self.assertNotIn("/2/instances/{instance_name}/reinstall", paths)
        self.assertEqual(set(paths["/2/instances/{instance_name}"]), {"get"})
        self.assertIn("/openapi.json", paths)

    def test_all_built(self) -> None:
        """With a logical unit for each opcode every operation is described."""
        paths = Rapi(served_operations(set(OPCODES.values()))).request("GET", "/openapi.json").json["paths"]
        self.assertEqual(
            {(method.upper(), path) for path, methods in paths.items() for method in methods},
            {(operation.method, operation.path) for operation in OPERATIONS},
        )

    def test_master_refuses(self) -> None:
        """A master daemon that knows less than we do is told of in the same way."""
        self.luxi.answers["SubmitJob"] = OpCodeUnknown("OP_INSTANCE_STARTUP is not available in this version")
        self.assertEqual(self.rapi.request("PUT", f"{WEB}/startup").status, 501)
