"""The description of the Remote API against the operations and against the rules of OpenAPI 3.1."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import schemathesis
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.opcodes import OPCODES
from ganeti_tx.rapi.operations.openapi import JSON, document
from ganeti_tx.rapi.operations.operation import Argument, Operation
from ganeti_tx.rapi.resources.openapi import with_description
from ganeti_tx.rapi.resources.table import OPERATIONS

DRAFT = "https://json-schema.org/draft/2020-12/schema"


async def nothing(call: object) -> object:
    """An operation that does nothing."""
    return None


def operation(**changes: Any) -> Operation:
    """One that submits a job."""
    plain: dict[str, Any] = {
        "method": "PUT",
        "path": "/2/instances/{instance_name}/startup",
        "resource": "instances_name_startup",
        "access": frozenset({"write"}),
        "run": nothing,
        "summary": "Start an instance",
        "result": {"type": "integer"},
        "submits": ("OP_INSTANCE_STARTUP",),
    }
    return Operation(**{**plain, **changes})


def one(**changes: Any) -> dict[str, Any]:
    """How an operation is described."""
    described = operation(**changes)
    found: dict[str, Any] = document([described])["paths"][described.path][described.method.lower()]
    return found


def nested(part: Any) -> Iterator[dict[str, Any]]:
    """Every object in a document."""
    if isinstance(part, dict):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from nested(each)


class DocumentTests(SynchronousTestCase):
    """The whole document."""

    def setUp(self) -> None:
        self.document = json.loads(json.dumps(document(OPERATIONS)))
        self.described = [
            (method.upper(), path, each)
            for path, methods in self.document["paths"].items()
            for method, each in methods.items()
        ]

    def test_valid(self) -> None:
        """It is valid OpenAPI 3.1."""
        schema = schemathesis.openapi.from_dict(self.document)
        schema.validate()
        self.assertEqual(len(list(schema.get_all_operations())), len(OPERATIONS))

    def test_schemas_are_valid(self) -> None:
        """Every schema in it is one of JSON Schema 2020-12."""
        for each in OPERATIONS:
            for schema in (each.result, each.body):
                if schema is not None:
                    jsonschema_rs.meta.validate({"$schema": DRAFT, **schema})

    def test_describes_every_operation(self) -> None:
        """It describes the operations of the table, and no others, itself included."""
        self.assertEqual(
            sorted((method, path) for method, path, _ in self.described),
            sorted((each.method, each.path) for each in OPERATIONS),
        )
        self.assertIn("/openapi.json", self.document["paths"])

    def test_names_are_unique(self) -> None:
        """Programs are generated from the operations' names, so no two share one."""
        names = [each["operationId"] for _, _, each in self.described]
        self.assertEqual(len(set(names)), len(names))

    def test_names_are_names(self) -> None:
        """They are names in programming languages, too."""
        for _, _, each in self.described:
            self.assertRegex(each["operationId"], r"^[a-z][a-z0-9_]*$")

    def test_arrays_say_their_items(self) -> None:
        """Generators of clients want to know what each array holds, as a schema."""
        arrays = [each for each in nested(self.document) if each.get("type") == "array" or "prefixItems" in each]
        self.assertGreater(len(arrays), 100)
        for each in arrays:
            self.assertIsInstance(each.get("items"), dict, each)

    def test_references_lead_somewhere(self) -> None:
        """What is referred to is there."""
        targets = {each["$ref"] for each in nested(self.document) if "$ref" in each}
        self.assertIn("#/components/schemas/Error", targets)
        for target in targets:
            found: Any = self.document
            for step in target.removeprefix("#/").split("/"):
                found = found[step.replace("~1", "/").replace("~0", "~")]
            self.assertIsInstance(found, dict, target)

    def test_parts_are_described(self) -> None:
        """Every named part of a path is a parameter of it."""
        for _, path, each in self.described:
            named = {parameter["name"] for parameter in each["parameters"] if parameter["in"] == "path"}
            self.assertEqual(named, {part[1:-1] for part in path.split("/") if part.startswith("{")})

    def test_opcodes_are_known(self) -> None:
        """Only opcodes that there are are named."""
        named = {opcode for _, _, each in self.described for opcode in each.get("x-ganeti-opcode", ())}
        self.assertEqual(named - set(OPCODES), set())
        self.assertIn("OP_INSTANCE_CREATE", named)


class OperationTests(SynchronousTestCase):
    """How one operation is described."""

    def test_body(self) -> None:
        """A body has its schema, and whether it may be left out."""
        described = one(body={"type": "object"}, body_required=True)
        self.assertEqual(
            described["requestBody"], {"required": True, "content": {JSON: {"schema": {"type": "object"}}}}
        )

    def test_no_body(self) -> None:
        """What has no body says nothing of one."""
        self.assertNotIn("requestBody", one())

    def test_conditions(self) -> None:
        """What shows may answer that it is known, what changes that a condition does not hold, also by GET."""
        shows, changes, submits = one(method="GET", submits=()), one(), one(method="GET")
        for described, status in ((shows, "304"), (changes, "412"), (submits, "412")):
            self.assertEqual({"304", "412"} & set(described["responses"]), {status})

    def test_content_type(self) -> None:
        """What is not JSON says so."""
        described = one(method="GET", content_type="text/plain", result={"type": "string"})
        self.assertEqual(list(described["responses"]["200"]["content"]), ["text/plain"])

    def test_security(self) -> None:
        """Credentials are optional where nobody is asked for them."""
        self.assertEqual(one()["security"], [{"basic": []}, {"bearer": []}])
        self.assertEqual(one(access=frozenset())["security"], [{}, {"basic": []}, {"bearer": []}])
        self.assertEqual(one()["x-ganeti-access"], ["write"])

    def test_not_found(self) -> None:
        """Only what names an object can miss it."""
        self.assertIn("404", one()["responses"])
        self.assertNotIn("404", one(path="/2/info")["responses"])

    def test_errors_share_a_body(self) -> None:
        """Every error refers to the one error body, with its three keys."""
        whole = document([operation()])
        for response in whole["components"]["responses"].values():
            self.assertEqual(response["content"][JSON]["schema"], {"$ref": "#/components/schemas/Error"})
        self.assertEqual(whole["components"]["schemas"]["Error"]["required"], ["code", "message", "explain"])

    def test_arguments(self) -> None:
        """Flags are integers; lists are repeated or joined by commas."""
        arguments = (Argument("bulk", "flag"), Argument("tag", "list", repeatable=True), Argument("fields", "list"))
        bulk, tag, fields = one(path="/2/tags", arguments=arguments)["parameters"]
        self.assertEqual((bulk["in"], bulk["schema"]["type"], bulk["required"]), ("query", "integer", False))
        self.assertEqual([tag["explode"], fields["explode"]], [True, False])

    def test_choices(self) -> None:
        """Where only some words are taken, they are listed; what is needed is said."""
        arguments = (Argument("a", choices=("b", "c")), Argument("d", "list", required=True, choices=("e",)))
        one_of, some_of = one(path="/2/tags", arguments=arguments)["parameters"]
        self.assertEqual(one_of["schema"], {"type": "string", "enum": ["b", "c"]})
        self.assertEqual((some_of["required"], some_of["schema"]["minItems"]), (True, 1))
        self.assertEqual(some_of["schema"]["items"]["enum"], ["e"])

    def test_numbers_in_paths(self) -> None:
        """Ids of jobs are digits."""
        parameter = one(path="/2/jobs/{job_id}")["parameters"][0]
        self.assertEqual(parameter["schema"]["pattern"], "^[0-9]+$")


class ServedTests(SynchronousTestCase):
    """The operation that gives the document."""

    def test_served(self) -> None:
        """It gives the document of all operations, itself among them, made once."""
        both = with_description((operation(),))
        self.assertEqual(both[1].path, "/openapi.json")
        given: Any = self.run_twice(both[1])
        self.assertEqual(given[0]["paths"].keys(), {operation().path, "/openapi.json"})
        self.assertIs(given[0], given[1])

    def run_twice(self, described: Operation) -> list[object]:
        """What it gives the first and the second time."""
        return [self.finish(described) for _ in range(2)]

    def finish(self, described: Operation) -> object:
        """Run to the end what does not wait."""
        unused: Any = None
        coroutine: Any = described.run(unused)
        try:
            coroutine.send(None)
        except StopIteration as end:
            return end.value
        raise AssertionError("it waits")
