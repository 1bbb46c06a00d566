"""What is told of jobs and locks."""

from ganeti_tx.errors import ECode
from ganeti_tx.locking.interfaces import BGL, Level, Lock, LockStatus, Mode, Owner
from ganeti_tx.query.cell import UNAVAILABLE
from ganeti_tx.test.query.case import QueryCase


class JobTests(QueryCase):
    """Jobs as they are handed in."""

    def setUp(self) -> None:
        """Three jobs."""
        super().setUp()
        self.jobs = {number: {"id": number, "status": "queued", "end_ts": None} for number in (2, 10, 1)}

    def test_order(self) -> None:
        """Jobs stand by their ids as numbers."""
        self.assertEqual(self.names("job"), [1, 2, 10])

    def test_asked(self) -> None:
        """Asked for by id, as number or digits, they come in the order asked, each once."""
        asked = ["|", ["=", "id", 10], ["=", "id", "1"], ["=", "id", 10]]
        self.assertEqual(self.names("job", asked), [10, 1])

    def test_unknown(self) -> None:
        """An id that no job has, or that is none, is an error."""
        self.refuses(ECode.NOENT, "job", ["id"], ["|", ["=", "id", 1], ["=", "id", 77]])
        for wrong in ("x", "-1", "1.0", "٣", "9" * 30):
            self.refuses(ECode.INVAL, "job", ["id"], ["=", "id", wrong])

    def test_not_yet(self) -> None:
        """A time that has not come is unavailable."""
        self.assertEqual(self.column("job", "end_ts"), [UNAVAILABLE] * 3)

    def test_only_what_is_read(self) -> None:
        """The keeper of jobs is told which fields will be read, those of the filter among them, and no unknown ones."""
        self.ask("job", ["end_ts", "bogus"], ["=", "status", "queued"])
        self.assertEqual(self.jobs_wanted, [frozenset({"id", "status", "end_ts"})])

    def test_unread_fields(self) -> None:
        """A row need not have what is not read."""
        self.jobs = {1: {"id": 1}}
        self.assertEqual(self.names("job", ["=", "id", 1]), [1])


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
        held = ((0, "cluster/BGL"), (0, "shared"), (0, ["job 1", "job 2"]), (0, [["exclusive", ["job 3"]]]))
        free = ((0, "node/node1"), UNAVAILABLE, UNAVAILABLE, (0, [["shared", ["job 1"]]]))
        self.assertEqual(self.ask("lock", ["name", "mode", "owner", "pending"]), [held, free])

    def test_asked(self) -> None:
        """Locks are asked for by their whole name; one that is free has no row."""
        asked = ["|", ["=", "name", "node/node1"], ["=", "name", "node/node2"], ["=", "name", "cluster/BGL"]]
        self.assertEqual(self.names("lock", asked), ["node/node1", "cluster/BGL"])

    def test_filter(self) -> None:
        """Filters work on locks."""
        self.assertEqual(self.names("lock", ["=~", "name", "^node/"]), ["node/node1"])
        self.assertEqual(self.names("lock", ["&", ["==", "mode", "exclusive"], ["?", "pending"]]), ["node/node1"])
