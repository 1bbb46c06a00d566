"""Who gets a place at a server, who is evicted, and who gives up room."""

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.limits import Limits
from ganeti_tx.luxi.places import Places


@define(eq=False)
class FakeClient:
    """Rests as long as the test says, and remembers what was done to it."""

    process: int | None
    rest: float | None = None
    done: list[str] = field(factory=list)

    def resting(self, now: float) -> float | None:
        """What the test says."""
        return self.rest

    def leave(self) -> None:
        """Remember."""
        self.done.append("leave")

    def refuse(self, reason: str) -> None:
        """Remember."""
        self.done.append(reason)

    def drop(self) -> None:
        """Remember."""
        self.done.append("drop")


class PlacesCase(SynchronousTestCase):
    """Eight places, of which one process may have six."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.places = Places(Limits(connections=8, requests_size=100, answers_size=100), self.clock)

    def join(self, process: int | None, rest: float | None = None) -> FakeClient:
        """A client that is taken in."""
        client = FakeClient(process, rest)
        self.assertIsNone(self.places.join(client))
        return client


class JoinTests(PlacesCase):
    """Connections."""

    def test_own_guests_give_way(self) -> None:
        """A process that has more than its share gives up one of its own, though others rest longer."""
        other = self.join(2, rest=1000)
        mine = [self.join(1, rest=rest) for rest in (5, 9, 7, 1, 2, 3)]
        self.join(1)
        self.assertEqual([client.done for client in mine], [[], ["leave"], [], [], [], []])
        self.assertEqual(other.done, [])

    def test_share(self) -> None:
        """A process whose share is busy is refused, another one is not."""
        for _ in range(6):
            self.join(1)
        self.assertIn("process 1 has 6 that are busy", str(self.places.join(FakeClient(1))))
        self.join(2)

    def test_largest_process_first(self) -> None:
        """When all is full, who rests in the process with most connections goes, however long others rest."""
        small = self.join(2, rest=500)
        large = [self.join(1, rest=rest) for rest in (1, 2, None, None, 0)]
        for process in (3, 4):
            self.join(process)
        self.join(5)
        self.assertEqual(([client.done for client in large], small.done), ([[], ["leave"], [], [], []], []))
        self.assertEqual(len(self.places), 8)

    def test_all_busy(self) -> None:
        """When nobody rests, a new client is refused."""
        for process in range(8):
            self.join(process)
        self.assertIn("all 8 are busy", str(self.places.join(FakeClient(9))))

    def test_unknown_processes(self) -> None:
        """Clients whose process is not known have no share to exceed."""
        for _ in range(8):
            self.join(None)
        self.assertIn("all 8", str(self.places.join(FakeClient(None))))

    def test_leaving(self) -> None:
        """Who is gone leaves a place; who was never taken in leaves none."""
        clients = [self.join(process) for process in range(8)]
        refused = FakeClient(9)
        self.places.join(refused)
        self.places.left(refused)
        self.places.left(clients[0])
        self.places.left(clients[0])
        self.assertEqual(len(self.places), 7)
        self.join(9)

    @given(st.lists(st.tuples(st.integers(1, 3), st.none() | st.floats(0, 10)), max_size=60))
    def test_never_more(self, clients: list[tuple[int, float | None]]) -> None:
        """Whatever comes, there are never more than eight, nor more than six of one process."""
        places = Places(Limits(connections=8), Clock())
        for process, rest in clients:
            places.join(FakeClient(process, rest))
            self.assertLessEqual(len(places), 8)
            for each in (1, 2, 3):
                self.assertLessEqual(sum(client.process == each for client in places.clients), 6)


class HoldingTests(PlacesCase):
    """Bytes."""

    def test_refused(self) -> None:
        """The largest client of the process that holds most is refused, with the limit in the text."""
        small, large, other = self.join(1), self.join(1), self.join(2)
        self.places.holds_requests(small, 20)
        self.places.holds_requests(large, 30)
        self.places.holds_requests(other, 45)
        self.places.holds_requests(small, 26)
        self.assertEqual((small.done, other.done), ([], []))
        self.assertEqual(len(large.done), 1)
        self.assertIn("too much room", large.done[0])
        self.assertEqual(self.places.requests.total, 71)

    def test_answers(self) -> None:
        """An answer that is alone may be larger than the limit; otherwise others who do not read are dropped for it."""
        first, second = self.join(1), self.join(2)
        self.places.holds_answer(first, 150)
        self.assertEqual(first.done, [])
        self.places.holds_answer(second, 10)
        self.assertEqual((first.done, second.done), (["drop"], []))
        self.assertEqual(self.places.answers.total, 10)

    def test_leaving(self) -> None:
        """Who is gone holds nothing."""
        client = self.join(1)
        self.places.holds_requests(client, 50)
        self.places.holds_answer(client, 50)
        self.places.left(client)
        self.assertEqual((self.places.requests.total, self.places.answers.total), (0, 0))

    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 90)), max_size=60))
    def test_never_more(self, steps: list[tuple[int, int]]) -> None:
        """The sum is right and never over the limit."""
        places = Places(Limits(requests_size=100), Clock())
        clients = [FakeClient(number % 2) for number in range(5)]
        for number, size in steps:
            places.holds_requests(clients[number], size)
            self.assertLessEqual(places.requests.total, 100)
            self.assertEqual(places.requests.total, sum(places.requests._held.values()))
