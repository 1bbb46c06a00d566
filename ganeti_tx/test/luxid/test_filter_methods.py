"""LUXI's methods that change filter rules."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError, ECode, OpPrereqError
from ganeti_tx.luxid.filter_methods import MAX_RULES, FilterMethods
from ganeti_tx.model.filter_rule import FilterRule

UUID = "11111111-2222-3333-4444-555555555555"
NEW_UUID = "aaaaaaaa-2222-3333-4444-555555555555"
NEW = ["jobid", [">", "id", "watermark"]]
TRAIL = [["gnt:user", "maintenance", 1]]


class FakeConfig:
    """As much of IConfig as rules need."""

    def __init__(self) -> None:
        self.rules: dict[str, FilterRule] = {}
        self.reserved: list[str] = []
        self.broken = False
        self.leaves = False

    async def generate_uuid(self) -> str:
        """Always the same."""
        self.reserved.append(NEW_UUID)
        return NEW_UUID

    async def put_filter(self, rule: FilterRule) -> None:
        """Store it, if the disk is well."""
        if self.broken:
            raise ConfigurationError("cannot write")
        self.rules[rule.uuid] = rule

    async def remove_filter(self, uuid: str) -> None:
        """Remove it."""
        if self.rules.pop(uuid, None) is None:
            raise OpPrereqError(f"filter {uuid!r} not known", ECode.NOENT)

    async def drop_reservations(self) -> None:
        """Nothing is reserved any more."""
        if self.leaves:
            raise ConfigurationError("WConfD is away")
        self.reserved.clear()


class FilterMethodTests(SynchronousTestCase):
    """ReplaceFilter and DeleteFilter."""

    def setUp(self) -> None:
        self.config = FakeConfig()
        self.woken: list[None] = []
        config: Any = self.config
        self.methods = FilterMethods(config, lambda: self.config.rules, lambda: 42, lambda: self.woken.append(None))

    def start(self, method: str, *args: Any) -> Deferred[Any]:
        """Call a method."""
        answer: Any = self.methods.table()[method]
        return Deferred.fromCoroutine(answer(*args))

    def refused(self, uuid: Any, priority: int, predicates: Any, action: Any, trail: Any) -> OpPrereqError:
        """Why ReplaceFilter refuses; nothing has changed."""
        before = dict(self.config.rules)
        error = self.failureResultOf(
            self.start("ReplaceFilter", uuid, priority, predicates, action, trail), OpPrereqError
        )
        self.assertEqual(self.config.rules, before)
        self.assertEqual(error.value.ecode, ECode.INVAL)
        return error.value

    def test_wconfd_leaves(self) -> None:
        """A rule that was made is told as made, and looked at, whatever becomes of the reservation of its uuid."""
        self.config.leaves = True
        found = self.successResultOf(self.start("ReplaceFilter", None, 3, [NEW], "PAUSE", TRAIL))
        self.assertEqual((found, list(self.config.rules), len(self.woken)), (NEW_UUID, [NEW_UUID], 1))

    def test_add(self) -> None:
        """A rule gets a uuid and, as watermark, the highest job id; the queue looks at it; nothing stays reserved."""
        found = self.successResultOf(self.start("ReplaceFilter", None, 3, [NEW], ["RATE_LIMIT", 5], TRAIL))
        self.assertEqual(found, NEW_UUID)
        expected = FilterRule(
            uuid=NEW_UUID,
            watermark=42,
            priority=3,
            predicates=(("jobid", NEW[1]),),
            action=("RATE_LIMIT", 5),
            reason_trail=(("gnt:user", "maintenance", 1),),
        )
        self.assertEqual(self.config.rules, {NEW_UUID: expected})
        self.assertEqual(self.config.reserved, [])
        self.assertEqual(len(self.woken), 1)

    def test_replace(self) -> None:
        """A uuid names the rule to replace; where there is none, one is added under it."""
        for action in ("PAUSE", "REJECT"):
            self.assertEqual(self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], action, [])), UUID)
            self.assertEqual(self.config.rules[UUID].action, action)
        self.assertEqual(len(self.config.rules), 1)

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
        self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], "PAUSE", []))
        self.config.rules |= {str(number): self.config.rules[UUID] for number in range(MAX_RULES - 1)}
        error = self.failureResultOf(self.start("ReplaceFilter", None, 0, [], "PAUSE", []), OpPrereqError).value
        self.assertEqual(error.ecode, ECode.NORES)
        self.assertEqual(self.successResultOf(self.start("ReplaceFilter", UUID, 0, [], "ACCEPT", [])), UUID)

    def test_not_written(self) -> None:
        """When the configuration cannot be changed, the client hears why and nothing stays reserved."""
        self.config.broken = True
        self.failureResultOf(self.start("ReplaceFilter", None, 0, [], "PAUSE", []), ConfigurationError)
        self.assertEqual(self.config.reserved, [])
