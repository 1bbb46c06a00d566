"""Lists of all jobs, with the archive, for somebody in scopes."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.model.scope import read_scope
from ganeti_tx.rapi.access.judged_jobs import AT_ONCE, RememberedJobs
from ganeti_tx.rapi.access.scope_rows import ScopeRows
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.test.rapi.requests import FakeLuxi


class ArchivedTests(SynchronousTestCase):
    """Jobs about web0, which is in scope, and web1, which is not."""

    def setUp(self) -> None:
        """More of them than are read at a time."""
        self.count = 2 * AT_ONCE + 3
        self.asked: list[int] = []
        self.damaged: set[int] = set()
        #: What answers wait for, unless they come at once.
        self.waiting: list[Deferred[None]] | None = None
        self.luxi = FakeLuxi(
            {"Query": self.listed, "QueryJobs": self.read, "QueryInstances": lambda names, _fields, _lock=False: [
                [name, ["web"] if name == "web0" else [], "group"] for name in names
            ]}
        )  # fmt: skip
        caller = Caller("web", frozenset({read_scope("tag=web")}))
        self.rows = ScopeRows(self.luxi, caller, RememberedJobs(self.luxi))

    def listed(self, resource: str, fields: list[str], condition: None = None) -> Any:
        """What there is; nothing that stands in files is asked for."""
        self.assertEqual((resource, fields, condition), ("job", ["id", "archived"], None))
        return {"fields": [], "data": [[[0, number], [0, True]] for number in range(1, self.count + 1)]}

    def read(self, numbers: list[int], fields: list[str]) -> Any:
        """Some jobs from their files."""
        self.assertEqual(fields, ["ops"])
        self.asked.append(len(numbers))
        if self.damaged.intersection(numbers):
            return JobFileCorrupted("some job cannot be shown")
        rows = [[[{"OP_ID": "OP_INSTANCE_STARTUP", "instance_name": f"web{number % 2}"}]] for number in numbers]
        if self.waiting is None:
            return rows
        self.waiting.append(Deferred())
        return self.waiting[-1].addCallback(lambda _: rows)

    def ids(self) -> "Deferred[list[int]]":
        """Of those to be seen."""
        return Deferred.fromCoroutine(self.rows.all_jobs(True))

    def test_in_parts(self) -> None:
        """Some are read at a time, and others are answered between."""
        self.waiting = []
        finding = self.ids()
        for parts in ([AT_ONCE], [AT_ONCE] * 2, [AT_ONCE, AT_ONCE, 3]):
            self.assertNoResult(finding)
            self.assertEqual(self.asked, parts)
            self.waiting.pop().callback(None)
        self.assertEqual(self.successResultOf(finding), [*range(2, self.count + 1, 2)])

    def test_damaged(self) -> None:
        """A job that cannot be read is not seen, and keeps nobody from the others."""
        self.damaged = {2, 5, AT_ONCE + 1, self.count - 1}
        expected = {*range(2, self.count + 1, 2)} - self.damaged
        found = self.successResultOf(self.ids())
        self.assertEqual(found, sorted(expected))

    def test_none(self) -> None:
        """Where there is none, nothing is read."""
        self.count = 0
        self.assertEqual((self.successResultOf(self.ids()), self.asked), ([], []))
