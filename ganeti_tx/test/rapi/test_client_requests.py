"""What the stock client sends, method by method: each request becomes the job that it asks for."""

from collections.abc import Iterator
from typing import Any

from ganeti_tx.model.opcodes import decode
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.test.rapi.calls import RECEIVED, found
from ganeti_tx.test.rapi.case import OperationCase
from ganeti_tx.test.rapi.facts_table import FACTS, Fact, facts
from ganeti_tx.test.rapi.recording import RecordingLuxi
from ganeti_tx.test.rapi.samples import address_of, body_of

#: What the client leaves out although the server has demanded it ever since.
INCOMPLETE = {("EvacuateNode", "minimal_request")}
UUID = "b6d3f6a2-0d5e-4b9b-9f9c-2b6f3a1f0c11"
#: Arguments that are not parameters under their own names.
ARGUMENTS = {"dry-run": "dry_run", "auto-promote": "auto_promote", "type": "reboot_type", "tag": "tags"}
INSIDE = {"allocatable": "changes"}


def requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every request of every method, with few parameters and with all."""
    for name, told in FACTS["client_requests"].items():
        for size in ("minimal_request", "full_request"):
            for request in told.get(size, ()):
                yield name, size, request


def fact_of(operation: Operation) -> Fact:
    """What is known of an operation."""
    (fact,) = (fact for fact in facts() if (fact.method, fact.path) == (operation.method, operation.path))
    return fact


class ClientRequestTests(OperationCase):
    """81 methods, told as requests."""

    def test_jobs(self) -> None:
        """Each request that submits becomes opcodes that luxid takes, and nothing that it says is lost."""
        tried = set()
        for name, size, told in requests():
            operation, _ = found(told["method"], address_of(name, told).partition("?")[0])
            if not operation.submits or operation.path == "/2/os" or (name, size) in INCOMPLETE:
                continue
            ops = self.submitted_all(told["method"], address_of(name, told), body_of(name, told))
            decoded = [decode(op, strict_wire=True) for op in ops]
            self.assertEqual([op.op_id() for op in decoded], list(operation.submits)[: len(decoded)])
            if operation.path.endswith("/reinstall"):
                self.assertEqual(len(ops), 3 if size == "minimal_request" else 2)
            else:
                self.assert_kept(name, told, ops[0], fact_of(operation))
            self.assert_reasons(told, ops, operation)
            tried.add(name)
        self.assertEqual(len(tried), 49)

    def assert_kept(self, name: str, told: dict[str, Any], op: dict[str, Any], fact: Fact) -> None:
        """Every key of the body and every argument is in the opcode."""
        body = body_of(name, told)
        for key, value in body.items() if isinstance(body, dict) else ():
            if key != "__version__" and value is not None:
                self.assertEqual(op[str(fact.renames.get(key, key))], value, (name, key))
        for key, _ in told["query"] or ():
            param = str(ARGUMENTS.get(key, key))
            if key in INSIDE:
                self.assertEqual(op[INSIDE[key]], {key: True})
            elif key != "reason":
                self.assertTrue(op[param], (name, key))

    def assert_reasons(self, told: dict[str, Any], ops: list[dict[str, Any]], operation: Operation) -> None:
        """Each opcode says why, and over which resource it came."""
        said = any(name == "reason" for name, _ in told["query"] or ())
        handler = fact_of(operation).handler.removeprefix("R_2_")
        user = [["gnt:user", "because", RECEIVED]] if said else []
        for op in ops:
            self.assertEqual(op["reason"], [*user, [f"gnt:library:rlib2:{handler}", "", RECEIVED]])

    def test_queries(self) -> None:
        """Each request that submits nothing asks LUXI for something that it has, and is answered."""
        tried = set()
        for name, _, told in requests():
            operation, _ = found(told["method"], address_of(name, told).partition("?")[0])
            if operation.submits:
                continue
            self.luxi = RecordingLuxi(ANSWERS)
            self.send(told["method"], address_of(name, told), body_of(name, told))
            tried.add(name)
        self.assertEqual(len(tried), 30)


def rows(names: object, wanted: list[str], *rest: object) -> list[list[Any]]:
    """One row of values that fit every field."""
    special = {"id": 3, "name": "one", "uuid": UUID, "role": "D", "oper_state": True, "beparams": {"maxmem": 64}}
    return [[special.get(name, name) for name in wanted]]


#: What a cluster with one of everything might say.
ANSWERS: dict[str, Any] = {
    "QueryClusterInfo": {"volume_group_name": "xenvg", "drbd_usermode_helper": None},
    "QueryInstances": rows,
    "QueryNodes": rows,
    "QueryGroups": rows,
    "QueryNetworks": rows,
    "QueryFilters": rows,
    "QueryJobs": rows,
    "QueryTags": ["web"],
    "Query": {"fields": [], "data": []},
    "QueryFields": {"fields": []},
    "CancelJob": [False, "not queued any more"],
    "WaitForJobChange": [["3", "running"], []],
    "ReplaceFilter": UUID,
    "DeleteFilter": None,
}
