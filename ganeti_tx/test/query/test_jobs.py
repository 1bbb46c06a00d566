"""What is told of jobs and locks."""

from collections.abc import Callable
from typing import Any

from ganeti_tx.errors import ECode
from ganeti_tx.locking.interfaces import BGL, Level, Lock, LockStatus, Mode, Owner
from ganeti_tx.query.jobs import AT_A_TIME
from ganeti_tx.query.language import filter
from ganeti_tx.query.language.cell import UNAVAILABLE
from ganeti_tx.test.query.case import QueryCase


class JobTests(QueryCase):
    """Jobs as they are handed in."""

    def setUp(self) -> None:
        """Three jobs."""
        super().setUp()
        self.jobs = {number: {"id": number, "status": "queued", "end_ts": None, "ops": []} for number in (2, 10, 1)}

    def test_order(self) -> None:
        """Jobs stand by their ids as numbers."""
        self.assertEqual(self.names("job"), [1, 2, 10])

    def test_asked(self) -> None:
        """Asked for by id, as number or digits, they come in the order asked, each once."""
        asked = ["|", ["=", "id", 10], ["=", "id", "1"], ["=", "id", 10]]
        self.assertEqual(self.names("job", asked), [10, 1])

    def test_unknown(self) -> None:
        """Of a job that is not there only the id is available; what is no id is an error."""
        found = self.ask("job", ["id", "status", "archived", "ops"], ["|", ["=", "id", 77], ["=", "id", 1]])
        self.assertEqual(found[0], ((0, 77), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE))
        self.assertEqual(found[1][:2], ((0, 1), (0, "queued")))
        for wrong in ("x", "-1", "1.0", "٣", "9" * 30):
            self.refuses(ECode.INVAL, "job", ["id"], ["=", "id", wrong])

    def test_not_yet(self) -> None:
        """A time that has not come is unavailable."""
        self.assertEqual(self.column("job", "end_ts"), [UNAVAILABLE] * 3)

    def test_only_what_is_read(self) -> None:
        """Files are opened only for fields that nothing else has, and only of the jobs that an id's test lets through."""
        self.ask("job", ["status", "bogus"], ["=", "status", "queued"])
        self.ask("job", ["status", "ops"], [">", "id", 5])
        self.ask("job", ["id", "archived"])
        self.assertEqual(self.keeper.loaded, [([1, 2, 10], False), ([10], True)])

    def test_some_at_a_time(self) -> None:
        """However many jobs there are, no more than so many are loaded at once."""
        self.jobs = {number: {"id": number, "status": "queued"} for number in range(1, AT_A_TIME * 2 + 2)}
        self.assertEqual(len(self.ask("job", ["status"], ["=", "status", "queued"])), AT_A_TIME * 2 + 1)
        self.assertEqual([len(ids) for ids, _ in self.keeper.loaded], [AT_A_TIME, AT_A_TIME, 1])

    def test_filter_of_many_terms(self) -> None:
        """However many parts there are, the terms of a filter are gone through once."""
        self.jobs = {number: {"id": number, "status": "queued"} for number in range(1, AT_A_TIME * 3 + 1)}
        looks: list[str] = []
        for where, name in ((filter.AnyOf, "fields"), (filter, "merged")):
            self.patch(where, name, counted(getattr(where, name), looks))
        ids = ["|", *(["=", "id", number] for number in range(3, AT_A_TIME * 4))]
        found = self.ask("job", ["status"], ["&", ids, ["=", "status", "queued"]])
        self.assertEqual(len(found), AT_A_TIME * 3 - 2)
        self.assertEqual(sorted(looks), ["fields", "merged"])

    def test_gone(self) -> None:
        """A job that is gone when it is looked at has its id and nothing else."""
        self.keeper.gone = True
        self.assertEqual(self.ask("job", ["id", "status"], ["=", "id", 2]), [((0, 2), UNAVAILABLE)])


def counted(function: Callable[[Any], Any], calls: list[str]) -> Callable[[Any], Any]:
    """The same, which writes down its name at each call."""

    def call(given: Any) -> Any:
        calls.append(function.__name__)
        return function(given)

    return call


class LockTests(QueryCase):
    """Locks as they are handed in."""

    def setUp(self) -> None:
        """A lock that is held and waited for, and one that is only waited for."""
        super().setUp()
        first, second, third = (Owner(number, f"live{number}") for number in (1, 2, 3))
        node = Lock(Level.NODE, "node1")
        self.locks = (
            LockStatus(lock=BGL, mode=Mode.SHARED, owners=(first, second), pending=((Mode.EXCLUSIVE, (third,)),)),
            LockStatus(lock=node, mode=None, owners=(), pending=((Mode.SHARED, (first,)),)),
        )

    def test_cells(self) -> None:
        """Who holds it how, and who waits; without a holder both are unavailable."""
        held = ((0, "cluster/BGL"), (0, "shared"), (0, ["1", "2"]), (0, [["exclusive", ["3"]]]))
        free = ((0, "node/node1"), UNAVAILABLE, UNAVAILABLE, (0, [["shared", ["1"]]]))
        self.assertEqual(self.ask("lock", ["name", "mode", "owner", "pending"]), [held, free])

    def test_asked(self) -> None:
        """Locks are asked for by their whole name; one that is free has no row."""
        asked = ["|", ["=", "name", "node/node1"], ["=", "name", "node/node2"], ["=", "name", "cluster/BGL"]]
        self.assertEqual(self.names("lock", asked), ["node/node1", "cluster/BGL"])

    def test_filter(self) -> None:
        """Filters work on locks."""
        self.assertEqual(self.names("lock", ["=~", "name", "^node/"]), ["node/node1"])
        self.assertEqual(self.names("lock", ["&", ["==", "mode", "exclusive"], ["?", "pending"]]), ["node/node1"])
