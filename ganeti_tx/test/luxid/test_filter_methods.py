"""LUXI's methods that change filter rules."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.errors import ConfigurationError, ECode, OpPrereqError
from ganeti_tx.luxid.filter_methods import MAX_RULES, FilterMethods
from ganeti_tx.luxid.filter_methods import UUID as UUID_FORM
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.test.config.stores import CONFIG, config_of, loaded
from ganeti_tx.test.fakes.config import FailingConfig
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model.samples import FILTER

UUID = "11111111-2222-3333-4444-555555555555"
NEW = ["jobid", [">", "id", "watermark"]]
TRAIL = [["gnt:user", "maintenance", 1]]


class FilterMethodTests(SynchronousTestCase):
    """ReplaceFilter and DeleteFilter, over a configuration in memory that has no rules yet."""

    def setUp(self) -> None:
        self.begin({})

    def begin(self, rules: Mapping[str, FilterRule]) -> None:
        """Begin with these rules."""
        self.store = loaded(MemoryFiles(), replace(CONFIG, filters=rules))
        self.reservations = Reservations()
        self.config = FailingConfig(config_of(self.store, self.reservations))
        self.woken: list[None] = []
        self.methods = FilterMethods(self.config, lambda: self.rules, lambda: 42, lambda: self.woken.append(None))

    @property
    def rules(self) -> Mapping[str, FilterRule]:
        """The rules there are."""
        return self.store.snapshot.filters

    def start(self, method: str, *args: Any) -> Deferred[Any]:
        """Call a method."""
        answer: Any = self.methods.table()[method]
        return Deferred.fromCoroutine(answer(*args))

    def refused(self, uuid: Any, priority: int, predicates: Any, action: Any, trail: Any) -> OpPrereqError:
        """Why ReplaceFilter refuses; nothing has changed."""
        before = dict(self.rules)
        error = self.failureResultOf(
            self.start("ReplaceFilter", uuid, priority, predicates, action, trail), OpPrereqError
        )
        self.assertEqual(self.rules, before)
        self.assertEqual(error.value.ecode, ECode.INVAL)
        return error.value

    def test_wconfd_leaves(self) -> None:
        """A rule that was made is told as made, and looked at, whatever becomes of the reservation of its uuid."""
        self.config.failing[IConfig.drop_reservations] = ConfigurationError("WConfD is away")
        found = self.successResultOf(self.start("ReplaceFilter", None, 3, [NEW], "PAUSE", TRAIL))
        self.assertEqual((list(self.rules), len(self.woken)), ([found], 1))

    def test_add(self) -> None:
        """A rule gets a uuid and, as watermark, the highest job id; the queue looks at it; nothing stays reserved."""
        found = self.successResultOf(self.start("ReplaceFilter", None, 3, [NEW], ["RATE_LIMIT", 5], TRAIL))
        self.assertRegex(found, UUID_FORM)
        expected = FilterRule(
            uuid=found,
            watermark=42,
            priority=3,
            predicates=(("jobid", NEW[1]),),
            action=("RATE_LIMIT", 5),
            reason_trail=(("gnt:user", "maintenance", 1),),
        )
        self.assertEqual(self.rules, {found: expected})
        self.assertEqual(self.reservations.owners(), set())
        self.assertEqual(len(self.woken), 1)

    def test_replace(self) -> None:
        """A uuid names the rule to replace; where there is none, one is added under it."""
        for action in ("PAUSE", "REJECT"):
            self.assertEqual(self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], action, [])), UUID)
            self.assertEqual(self.rules[UUID].action, action)
        self.assertEqual(len(self.rules), 1)

    def test_delete(self) -> None:
        """Deletion answers null; of an unknown one it is refused."""
        self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], "PAUSE", []))
        self.assertIsNone(self.successResultOf(self.start("DeleteFilter", UUID)))
        self.assertEqual(len(self.woken), 2)
        error = self.failureResultOf(self.start("DeleteFilter", "x" * 5000), OpPrereqError).value
        self.assertEqual(error.ecode, ECode.NOENT)
        self.assertLess(len(str(error)), 200)

    def test_actions(self) -> None:
        """Actions are written exactly so, and a rate limit is a positive number."""
        wrong: list[Any] = [
            "pause", "STOP", "", None, 5, ["RATE_LIMIT"], ["RATE_LIMIT", 0], ["RATE_LIMIT", -1], ["RATE_LIMIT", "5"],
            ["RATE_LIMIT", 1.5], ["RATE_LIMIT", 10**20], ["PAUSE", 1], ["RATE_LIMIT", 1, 2], "RATE_LIMIT 5", ["PAUSE"],
        ]  # fmt: skip
        for action in wrong:
            self.refused(None, 0, [], action, [])
        self.assertIn("RATE_LIMIT, N", str(self.refused(None, 0, [], "pause", [])))

    def test_the_rest(self) -> None:
        """Uuids, priorities, predicates and trails are checked, in form and size."""
        self.assertIn("'x'", str(self.refused("x", 0, [], "PAUSE", [])))
        self.refused(UUID.upper(), 10**12, [], "PAUSE", [])
        self.assertIn("1000000000000", str(self.refused(UUID, 10**12, [], "PAUSE", [])))
        self.assertIn("predicates[0]", str(self.refused(UUID, 0, ["jobid"], "PAUSE", [])))
        self.assertIn("reason trail", str(self.refused(UUID, 0, [], "PAUSE", [["gnt:user", "x"]])))
        self.assertIn("65536", str(self.refused(UUID, 0, [], "PAUSE", [["gnt:user", "x" * 70_000, 1]])))

    def test_too_many(self) -> None:
        """Only so many rules are taken; one of them may still be replaced."""
        others = [replace(FILTER, uuid=f"{number:08}-2222-3333-4444-555555555555") for number in range(MAX_RULES - 1)]
        self.begin({rule.uuid: rule for rule in others})
        self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], "PAUSE", []))
        error = self.failureResultOf(self.start("ReplaceFilter", None, 0, [], "PAUSE", []), OpPrereqError).value
        self.assertEqual(error.ecode, ECode.NORES)
        self.assertEqual(self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], "ACCEPT", [])), UUID)

    def test_not_written(self) -> None:
        """When the configuration cannot be changed, the client hears why and nothing stays reserved."""
        self.config.failing[IConfig.put_filter] = ConfigurationError("cannot write")
        self.failureResultOf(self.start("ReplaceFilter", None, 0, [], "PAUSE", []), ConfigurationError)
        self.assertEqual(self.reservations.owners(), set())
