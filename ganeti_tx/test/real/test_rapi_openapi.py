"""What the running daemon answers against what its /openapi.json says of it."""

import json
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi_client import Client
from ganeti_tx.rapi_client.message import Message, Reply
from ganeti_tx.rapi_client.server import Credentials
from ganeti_tx.test.real.rapi_cluster import READER, WRITER
from ganeti_tx.test.real.rapi_scene import scene

#: Values of query arguments, where one is needed.
ARGUMENTS = {
    "tag": "walk",
    "fields": "name",
    "storage_type": "file",
    "output_fields": "name",
    "name": "walk",
    "mode": "local",
}
#: Answers without an end.
STREAMS = "text/event-stream"
#: Waits for a job that runs.
RUNS_A_JOB = "/2/os"


@frozen
class Raw:
    """An action that gives the reply as it came."""

    message: Message

    def steps(self) -> Any:
        """Send the message."""
        reply = yield self.message
        return reply


@frozen
class Described:
    """One operation of the document."""

    method: str
    path: str
    said: dict[str, Any]

    @property
    def shows(self) -> bool:
        """Whether it changes nothing."""
        return "304" in self.said["responses"]

    def message(self, parts: dict[str, str], body: bytes | None = None, **query: Any) -> Message:
        """A request with these parts of the path, and the arguments that it needs."""
        path = self.path.format(**parts)
        needed = {each["name"] for each in self.said["parameters"] if each["in"] == "query"}
        found = {name: value for name, value in ARGUMENTS.items() if name in needed} | query
        headers = (("Content-Type", "application/json"),) if body else ()
        return Message(self.method, f"{path}?{urlencode(found)}" if found else path, body, headers)

    def takes(self, argument: str) -> bool:
        """Whether there is such a query argument."""
        return any(each["name"] == argument for each in self.said["parameters"])


def least(schema: dict[str, Any], name: str = "") -> Any:
    """A small value that fits a schema."""
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return least(schema[key][-1])
    kind = schema.get("type", "null")
    match kind if isinstance(kind, str) else kind[-1]:
        case "object":
            return {each: least(schema["properties"][each], each) for each in schema.get("required", ())}
        case "array":
            items = schema.get("prefixItems") or [schema.get("items", {})] * schema.get("minItems", 0)
            return [least(each) for each in items]
        case "string":
            return "walk" if not schema.get("pattern") else "1.2.3.4"
        case "integer" | "number":
            return max(schema.get("minimum", 1), 1)
        case "boolean":
            return True
    return None


class WalkTests(SynchronousTestCase):
    """Every path and every method, on a cluster in which something of each kind is."""

    def setUp(self) -> None:
        self.scene = scene()
        self.document, self.parts = self.scene.document, self.scene.parts

    def operations(self) -> list[Described]:
        """All that the document describes and that has an end."""
        return [
            Described(method.upper(), path, said)
            for path, methods in self.document["paths"].items()
            for method, said in methods.items()
            if STREAMS not in said["responses"]["200"]["content"] and path != RUNS_A_JOB
        ]

    def answer(self, operation: Described, message: Message, credentials: Credentials | None = WRITER) -> Reply:
        """The reply, which must be one that the document declares."""
        with Client(self.scene.rapi.server(credentials)) as client:
            reply: Reply = client.do(Raw(message))
        where = f"{message.method} {message.target} -> {reply.status} {reply.body[:300]!r}"
        response = operation.said["responses"].get(str(reply.status))
        self.assertIsNotNone(response, where)
        if "$ref" in response:
            response = self.document["components"]["responses"][response["$ref"].rpartition("/")[2]]
        kind = reply.headers["content-type"].partition(";")[0]
        self.assertIn(kind, response["content"], where)
        if kind == "application/json":
            schema = {**response["content"][kind]["schema"], "components": self.document["components"]}
            for fault in jsonschema_rs.Draft202012Validator(schema).iter_errors(json.loads(reply.body)):
                self.fail(f"{where}: {fault.message[:500]} at {fault.instance_path}")
        return reply

    def test_what_is_there(self) -> None:
        """What shows something shows it, in names and in full."""
        for operation in self.operations():
            if operation.shows:
                body = operation.said.get("requestBody")
                data = json.dumps({"fields": ["status"]}).encode() if body else None
                for query in ({}, {"bulk": 1}) if operation.takes("bulk") else ({},):
                    reply = self.answer(operation, operation.message(self.parts, data, **query))
                    self.assertEqual(reply.status, 200, f"{operation.path}: {reply.body!r}")

    def test_what_is_not_there(self) -> None:
        """What is not there is told in a declared way."""
        nowhere = {name: "99999" if name in ("job_id", "disk_index") else "nowhere" for name in self.parts}
        for operation in self.operations():
            if "{" in operation.path:
                self.answer(operation, operation.message(nowhere, self.body(operation)))

    def test_changes(self) -> None:
        """What submits a job does so, or says what is wrong."""
        changes = [each for each in self.operations() if not each.shows and "{filter_uuid}" not in each.path]
        submitted = 0
        for operation in changes:
            reply = self.answer(operation, operation.message(self.parts, self.body(operation)))
            self.assertIn(reply.status, {200, 400}, f"{operation.method} {operation.path}: {reply.body!r}")
            submitted += reply.status == 200
        self.assertGreater(submitted, len(changes) / 2)

    def body(self, operation: Described) -> bytes | None:
        """A body that fits."""
        said = operation.said.get("requestBody")
        return json.dumps(least(said["content"]["application/json"]["schema"])).encode() if said else None

    def test_who_may(self) -> None:
        """Without credentials 401 where some are needed, with too few rights 403."""
        for operation in self.operations():
            access = operation.said["x-ganeti-access"]
            if access:
                reply = self.answer(operation, operation.message(self.parts), None)
                self.assertEqual(reply.status, 401, operation.path)
            if access == ["write"]:
                self.assertEqual(self.answer(operation, operation.message(self.parts), READER).status, 403)

    def test_bad_bodies(self) -> None:
        """What is no JSON is refused; what is some other JSON is not answered with a fault of the server."""
        for operation in self.operations():
            if "requestBody" in operation.said and not operation.path.endswith("/wait"):
                reply = self.answer(operation, operation.message(self.parts, b"{"))
                self.assertEqual(reply.status, 400, operation.path)
                for body in (b"17", b"[]", b'{"no such": 1}'):
                    reply = self.answer(operation, operation.message(self.parts, body))
                    self.assertIn(reply.status, {200, 400}, f"{operation.path} {body!r}: {reply.body!r}")
