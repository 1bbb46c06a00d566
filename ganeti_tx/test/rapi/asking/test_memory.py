"""What is remembered is never old, and never too much."""

from collections.abc import Mapping
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.asking.memory import Memory
from ganeti_tx.rapi.asking.questions import question
from ganeti_tx.rapi.asking.recording import Exchange
from ganeti_tx.rapi.caller import Caller, IGate
from ganeti_tx.rapi.http.representation import Representation
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.test.rapi.requests import FakeLuxi, Rapi


class Counting:
    """An operation that asks two questions, the second by the answer to the first."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, call: Call) -> object:
        """The tags of the instance of which the cluster's settings tell."""
        self.runs += 1
        name = (await call.luxi.query_config_values(["cluster_name"]))[0]
        return [name, await call.luxi.query_tags("instance", name), len(call.caller.scopes)]


class RecallTests(SynchronousTestCase):
    """A request that was made before."""

    def setUp(self) -> None:
        self.name, self.tags = "web1", ["a"]
        self.luxi = FakeLuxi(
            {"QueryConfigValues": lambda names: [self.name], "QueryTags": lambda kind, name: [*self.tags, name]}
        )
        self.counting = Counting()
        operation = Operation("GET", "/2/x", "x", frozenset(), self.counting.run, "X", {})
        self.rapi = Rapi(operations=(operation,), luxi=self.luxi)

    def get(self, path: str = "/2/x") -> Any:
        """What it gives; a request asks each question at most once."""
        before = len(self.luxi.calls)
        found = self.rapi.get(path).json
        asked = [(method, str(args)) for method, args in self.luxi.calls[before:]]
        self.assertEqual(len(asked), len(set(asked)))
        return found

    def test_same(self) -> None:
        """The master is asked each time; while it says the same, nothing is made anew."""
        self.assertEqual([self.get() for _ in range(3)], [["web1", ["a", "web1"], 0]] * 3)
        self.assertEqual((self.counting.runs, len(self.luxi.calls)), (1, 6))

    def test_changed(self) -> None:
        """A change is seen by the next request, whichever answer it is in."""
        self.get()
        self.tags = ["b"]
        self.assertEqual(self.get(), ["web1", ["b", "web1"], 0])
        self.name = "web2"
        self.assertEqual(self.get(), ["web2", ["b", "web2"], 0])
        self.assertEqual(self.counting.runs, 3)

    def test_arguments_count(self) -> None:
        """Other arguments are another request."""
        self.get()
        self.get("/2/x?bulk=1")
        self.assertEqual(self.counting.runs, 2)

    def test_scopes_count(self) -> None:
        """Who may see less does not see what others saw."""
        self.get()
        gate = Scoped()
        self.rapi = Rapi(operations=self.rapi.operations, luxi=self.luxi, gate=gate)
        self.assertEqual(self.get()["code"], 403)
        gate.scopes = frozenset()
        self.assertEqual(self.get()[2], 0)


@implementer(IGate)
class Scoped:
    """Lets everybody in, but not see everything."""

    scopes = frozenset({Scope("tag", "x")})

    async def admit(self, authorization: str | None, peer: str, operation: Any, parts: Mapping[str, str]) -> Caller:
        """As IGate says."""
        return Caller("tester", self.scopes)


class LimitTests(SynchronousTestCase):
    """How much is remembered."""

    def setUp(self) -> None:
        self.memory = Memory(most=10_000)
        self.luxi = FakeLuxi({"QueryClusterInfo": 1})
        message = question("QueryClusterInfo", [])
        self.asked = [Exchange(message, self.successResultOf(Deferred.fromCoroutine(self.luxi.ask(message))))]

    def keep(self, name: str, size: int) -> None:
        """Something of a size."""
        self.memory.keep(name, self.asked, Representation(body=b"x" * size, tag=""))

    def known(self, name: str) -> bool:
        """Whether it is remembered; using it makes it useful."""
        found, _ = self.successResultOf(Deferred.fromCoroutine(self.memory.recall(name, self.luxi)))
        return found is not None

    def test_least_useful_go(self) -> None:
        """When it is too much, what was of no use for longest is evicted."""
        for name in "abc":
            self.keep(name, 1000)
        self.assertTrue(self.known("a"))
        self.keep("d", 1000)
        self.assertEqual([self.known(name) for name in "abcd"], [True, False, True, True])

    def test_too_large(self) -> None:
        """What would leave no room for others is not remembered, nor what is made of no answers at all."""
        self.keep("large", 4000)
        self.memory.keep("other", None, Representation(body=b"x", tag=""))
        self.memory.keep("constant", [], Representation(body=b"x", tag=""))
        self.assertEqual([self.known("large"), self.known("other"), self.known("constant")], [False] * 3)

    def test_long_requests(self) -> None:
        """What was requested takes room as well: arguments that mean nothing cannot fill the memory beyond its limit."""
        names = [letter * 3000 for letter in "abc"]
        for name in names:
            self.keep(name, 1)
        self.assertEqual([self.known(name) for name in names], [False, True, True])

    def test_long_questions(self) -> None:
        """And so does what was asked."""
        message = question("QueryTags", ["instance", "x" * 3000])
        self.luxi.answers["QueryTags"] = lambda kind, name: []
        self.asked = [Exchange(message, self.successResultOf(Deferred.fromCoroutine(self.luxi.ask(message))))]
        for name in "abc":
            self.keep(name, 1)
        self.assertEqual([self.known(name) for name in "abc"], [False, True, True])
