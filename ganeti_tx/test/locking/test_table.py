"""The lock table by example: who gets what, and what is refused."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import LockRequest, LockStatus, Owner
from ganeti_tx.locking.levels import BGL, Level, Lock, Mode
from ganeti_tx.locking.table import LockTable
from ganeti_tx.locking.waiters import Ticket


def owner(number: int) -> Owner:
    """A job."""
    return Owner(number, f"/livelocks/job_{number}")


class TableTestCase(SynchronousTestCase):
    """A table, spelled shortly: "node/a=exclusive node/b=shared"."""

    def setUp(self) -> None:
        self.table = LockTable()

    def requests(self, text: str) -> list[LockRequest]:
        """Read the short form."""
        return [LockRequest.parse(*word.split("=")) for word in text.split()]

    def ask(self, number: int, text: str, priority: int = 0) -> Ticket:
        """One job's update."""
        return self.table.update(owner(number), self.requests(text), priority).ticket

    def refusal(self, number: int, text: str) -> str:
        """Why an update is refused; it must leave all as it was."""
        before = self.table.overview()
        error = self.assertRaises(LockError, self.ask, number, text)
        self.assertEqual(self.table.overview(), before)
        return str(error)

    def held(self, number: int) -> dict[str, str]:
        """What a job holds."""
        return {str(lock): mode.value for lock, mode in self.table.held(owner(number)).items()}

    def jobs(self, granted: list[Ticket]) -> list[int]:
        """Whose tickets these are."""
        return [ticket.owner.job_id for ticket in granted]


class GrantTests(TableTestCase):
    """Shared, exclusive, whole levels, up and down."""

    def test_shared_and_exclusive(self) -> None:
        """Readers go together; a writer is alone and is granted by the release of the last reader."""
        self.assertTrue(self.ask(1, "node/a=shared").granted)
        self.assertTrue(self.ask(2, "node/a=shared").granted)
        self.assertFalse(self.ask(3, "node/a=exclusive").granted)
        self.assertEqual(self.table.drop(owner(1)), [])
        self.assertEqual(self.jobs(self.table.drop(owner(2))), [3])
        self.assertEqual(self.held(3), {"node/a": "exclusive"})

    def test_whole_level(self) -> None:
        """Holding a group lock acts on all its members, those not heard of included, and on no other level."""
        self.ask(1, "node/[lockset]=shared")
        self.assertTrue(self.ask(2, "node/a=shared").granted)
        self.assertFalse(self.ask(3, "node/new=exclusive").granted)
        self.assertTrue(self.ask(4, "instance/a=exclusive").granted)

    def test_member_keeps_group_out(self) -> None:
        """A group lock waits for every holder of a member that conflicts."""
        self.ask(1, "node/a=shared")
        self.ask(2, "node/b=exclusive")
        ticket = self.ask(3, "node/[lockset]=shared")
        self.assertFalse(ticket.granted)
        self.assertEqual(self.jobs(self.table.drop(owner(2))), [3])

    def test_all_or_nothing(self) -> None:
        """Who waits keeps what it held and gets nothing new."""
        self.ask(1, "node/b=exclusive")
        self.ask(2, "instance/x=exclusive")
        self.ask(2, "node/a=exclusive node/b=exclusive instance/x=release")
        self.assertEqual(self.held(2), {"instance/x": "exclusive"})
        self.table.drop(owner(1))
        self.assertEqual(self.held(2), {"node/a": "exclusive", "node/b": "exclusive"})

    def test_pessimistic(self) -> None:
        """From all nodes to those that are needed in one update, which never waits."""
        self.ask(1, "node/[lockset]=exclusive")
        waiting = self.ask(2, "node/c=shared")
        outcome = self.table.update(owner(1), self.requests("node/[lockset]=release node/a=exclusive node/b=shared"))
        self.assertEqual(self.jobs(outcome.granted), [1, 2])
        self.assertTrue(waiting.granted)
        self.assertEqual(self.held(1), {"node/a": "exclusive", "node/b": "shared"})

    def test_downgrade(self) -> None:
        """A downgrade happens at once, whatever is held after it, and lets readers in."""
        self.ask(1, "node/a=exclusive network/n=shared")
        self.ask(2, "node/a=shared")
        self.assertEqual(self.jobs(self.table.update(owner(1), self.requests("node/a=shared")).granted), [1, 2])

    def test_upgrade(self) -> None:
        """An upgrade waits for the other readers, and passes those who wait for what its owner holds."""
        self.ask(1, "node/a=shared")
        self.ask(2, "node/a=shared")
        writer = self.ask(3, "node/a=exclusive", -10)
        upgrade = self.ask(1, "node/a=exclusive")
        self.assertFalse(upgrade.granted)
        self.assertEqual(self.jobs(self.table.drop(owner(2))), [1])
        self.assertFalse(writer.granted)

    def test_two_upgrades(self) -> None:
        """Of two readers that want to write, the second is refused: neither could ever go on."""
        self.ask(1, "node/a=shared")
        self.ask(2, "node/a=shared")
        self.ask(1, "node/a=exclusive")
        self.assertEqual(
            self.refusal(2, "node/a=exclusive"), "job 2 cannot upgrade node/a: job 1 holds it and waits for the same"
        )

    def test_group_upgrade(self) -> None:
        """A group lock is upgraded at once or not at all."""
        self.ask(1, "node/[lockset]=shared")
        self.ask(2, "node/a=shared")
        self.assertIn("job 1 cannot upgrade node/[lockset]", self.refusal(1, "node/[lockset]=exclusive"))
        self.table.drop(owner(2))
        self.assertTrue(self.ask(1, "node/[lockset]=exclusive").granted)

    def test_big_lock_is_no_group(self) -> None:
        """The big lock is one lock: held exclusively, it hinders only those who take it, too."""
        self.ask(1, "cluster/BGL=exclusive")
        self.assertTrue(self.ask(2, "node/a=exclusive").granted)
        self.assertFalse(self.ask(3, "cluster/BGL=shared").granted)

    def test_same_livelock_other_job(self) -> None:
        """An owner is the job and its livelock together: one process may run several jobs."""
        self.table.update(Owner(1, "/l"), self.requests("node/a=exclusive"))
        ticket = self.table.update(Owner(2, "/l"), self.requests("node/a=exclusive")).ticket
        self.assertFalse(ticket.granted)


class OrderTests(TableTestCase):
    """The rules against deadlock."""

    def test_order_violated(self) -> None:
        """What comes before a held lock is refused, with both names."""
        self.ask(1, "node/b=shared")
        for wanted in ("instance/x", "node/a", "node/[lockset]", "cluster/BGL"):
            self.assertIn(
                f"job 1 asks for {wanted} while it holds node/b: lock order violated",
                self.refusal(1, f"{wanted}=shared"),
            )

    def test_released_in_the_same_update(self) -> None:
        """What the update would release is held while it waits, so it counts."""
        self.ask(1, "node/b=shared")
        self.assertIn("while it holds node/b", self.refusal(1, "node/b=release node/a=shared"))

    def test_upgrade_below(self) -> None:
        """An upgrade of a lock that is not the last held is refused."""
        self.ask(1, "node/a=shared node/b=shared")
        self.assertIn("job 1 asks for node/a while it holds node/b", self.refusal(1, "node/a=exclusive"))

    def test_exclusive_member_of_shared_group(self) -> None:
        """An exclusive member beside a shared group lock is refused, held or asked for together, with both names."""
        together = self.refusal(1, "node/[lockset]=shared node/a=exclusive")
        self.assertIn("job 1 asks for node/a (exclusive) while it holds node/[lockset] (shared)", together)
        self.ask(1, "node/[lockset]=shared")
        self.assertEqual(self.refusal(1, "node/a=exclusive"), together)
        self.assertIn("node/[lockset]", self.refusal(1, "node/[lockset]=release node/a=exclusive"))

    def test_one_wait_at_a_time(self) -> None:
        """Who waits cannot ask for more."""
        self.ask(1, "node/a=exclusive")
        self.ask(2, "node/a=exclusive")
        self.assertEqual(
            self.refusal(2, "node/b=shared"), "job 2 cannot ask for more locks while it waits for node/a (exclusive)"
        )

    def test_two_modes(self) -> None:
        """One lock cannot become two things."""
        self.assertEqual(self.refusal(1, "node/a=shared node/a=release"), "node/a is asked for in two modes at a time")

    def test_priority_range(self) -> None:
        """Priorities outside of -20 to 19 are refused."""
        error = self.assertRaises(LockError, self.ask, 1, "node/a=shared", 20)
        self.assertEqual(str(error), "no such priority: 20; allowed are -20 to 19")


class QueueTests(TableTestCase):
    """Fairness: priority, arrival, groups of readers."""

    def test_design_example(self) -> None:
        """The queue of design-2.3, Locking, is served in its order; readers next in turn join readers who hold."""
        self.ask(1, "node/a=exclusive")
        waiting = {
            10: ("exclusive", 0), 11: ("exclusive", 0), 12: ("shared", 0), 13: ("shared", 0), 14: ("shared", 0),
            20: ("shared", 2), 21: ("shared", 2), 30: ("exclusive", 10),
            40: ("shared", 19), 41: ("exclusive", 19), 42: ("exclusive", 19),
        }  # fmt: skip
        for number in (40, 30, 10, 20, 11, 12, 41, 13, 21, 14, 42):
            mode, priority = waiting[number]
            self.ask(number, f"node/a={mode}", priority)
        served, running = [], [1]
        while running:
            running = [job for one in running for job in self.jobs(self.table.drop(owner(one)))]
            served.append(running)
        self.assertEqual(served, [[10], [11], [12, 13, 14, 20, 21], [30], [40], [41], [42], []])

    def test_readers_join_waiting_readers(self) -> None:
        """A reader passes a writer to join readers of its priority that wait before him, and only of its priority."""
        self.ask(1, "node/a=exclusive")
        for number, mode, priority in ((2, "shared", 0), (3, "exclusive", 0), (4, "shared", 0), (5, "shared", 10)):
            self.ask(number, f"node/a={mode}", priority)
        self.assertEqual(self.jobs(self.table.drop(owner(1))), [2, 4])

    def test_readers_wait_behind_a_writer(self) -> None:
        """A new reader does not pass a writer that waits, though it could share with those who hold."""
        self.ask(1, "node/a=shared")
        self.ask(2, "node/a=exclusive")
        self.assertFalse(self.ask(3, "node/a=shared").granted)
        self.assertTrue(self.ask(4, "node/a=shared", -10).granted)

    def test_wanting_blocks_those_behind(self) -> None:
        """What waits for all instances keeps back those who come later; higher priority passes."""
        self.ask(1, "instance/inst4=exclusive")
        everything = self.ask(2, "instance/[lockset]=exclusive")
        self.assertFalse(self.ask(3, "instance/inst1=exclusive").granted)
        self.assertTrue(self.ask(4, "instance/inst1=exclusive", -10).granted)
        self.table.drop(owner(1))
        self.assertFalse(everything.granted)
        self.assertEqual(self.jobs(self.table.drop(owner(4))), [2])

    def test_who_is_waited_for_passes(self) -> None:
        """A holder whom one ahead waits for is not kept back by him; else both would wait for ever."""
        self.ask(1, "node/a=exclusive")
        self.ask(2, "node/a=exclusive node/b=exclusive")
        self.assertFalse(self.ask(3, "node/b=exclusive").granted)
        self.assertTrue(self.ask(1, "node/b=exclusive").granted)

    def test_passes_once_waited_for(self) -> None:
        """A waiter moves up when somebody comes to wait for what it holds."""
        self.ask(1, "node/a=exclusive")
        self.ask(2, "instance/x=exclusive")
        self.ask(3, "node/a=exclusive node/b=exclusive")
        behind = self.ask(2, "node/b=exclusive")
        self.assertFalse(behind.granted)
        outcome = self.table.update(owner(4), self.requests("instance/x=shared"))
        self.assertEqual(self.jobs(outcome.granted), [2])

    def test_withdraw_wakes_those_behind(self) -> None:
        """Who leaves the queue lets those behind through."""
        self.ask(1, "node/a=shared")
        writer = self.ask(2, "node/a=exclusive")
        self.ask(3, "node/a=shared")
        self.assertEqual(self.jobs(self.table.withdraw(writer)), [3])
        self.assertEqual(self.table.withdraw(writer), [])

    def test_set_priority(self) -> None:
        """A new priority moves a waiter; among equals its arrival counts."""
        self.ask(1, "node/a=exclusive")
        for number in (2, 3, 4):
            self.ask(number, "node/a=exclusive")
        self.table.set_priority(owner(4), -5)
        self.table.set_priority(owner(3), -5)
        self.assertEqual(self.jobs(self.table.drop(owner(1))), [3])
        self.assertEqual(self.jobs(self.table.drop(owner(3))), [4])

    def test_overview(self) -> None:
        """Each lock with its mode, its holders and the queue, readers that go together as one entry."""
        self.ask(1, "node/a=shared cluster/BGL=shared")
        for number, mode in ((2, "exclusive"), (3, "shared"), (4, "exclusive"), (5, "shared")):
            self.ask(number, f"node/a={mode}")
        pending = (
            (Mode.EXCLUSIVE, (owner(2),)),
            (Mode.SHARED, (owner(3), owner(5))),
            (Mode.EXCLUSIVE, (owner(4),)),
        )
        self.assertEqual(
            self.table.overview(),
            [
                LockStatus(BGL, Mode.SHARED, (owner(1),), ()),
                LockStatus(Lock(Level.NODE, "a"), Mode.SHARED, (owner(1),), pending),
            ],
        )


class OtherOperationsTests(TableTestCase):
    """Opportunistic union, intersection, removal, the end of an owner."""

    def union(self, number: int, text: str) -> set[str]:
        """What one job gets by chance."""
        return {str(lock) for lock in self.table.opportunistic_union(owner(number), self.requests(text)).acquired}

    def test_opportunistic_union(self) -> None:
        """Takes what is free and in order, leaves what is held, what others wait for and what the order forbids."""
        self.ask(1, "node/b=exclusive")
        self.ask(2, "node/b=exclusive node/c=exclusive")
        self.ask(3, "instance/x=shared")
        wanted = "cluster/BGL=shared node/a=exclusive node/b=shared node/c=shared node/d=exclusive"
        self.assertEqual(self.union(3, wanted), {"node/a", "node/d"})
        self.assertEqual(self.held(3), {"instance/x": "shared", "node/a": "exclusive", "node/d": "exclusive"})

    def test_opportunistic_union_respects_groups(self) -> None:
        """Under a shared group lock there is no exclusive member to be had."""
        self.assertEqual(
            self.union(1, "node/[lockset]=shared node/a=exclusive node/b=shared"), {"node/[lockset]", "node/b"}
        )

    def test_opportunistic_union_while_waiting(self) -> None:
        """Who waits gets nothing by chance."""
        self.ask(1, "node/a=exclusive")
        self.ask(2, "node/a=exclusive")
        self.assertEqual(self.union(2, "node/b=shared"), set())

    def test_intersect(self) -> None:
        """Keeps what is listed and wakes who waited for the rest."""
        self.ask(1, "node/a=exclusive node/b=exclusive")
        self.ask(2, "node/b=shared")
        granted = self.table.intersect(owner(1), [Lock.parse("node/a"), Lock.parse("node/z")])
        self.assertEqual(self.jobs(granted), [2])
        self.assertEqual(self.held(1), {"node/a": "exclusive"})

    def test_intersect_while_waiting_for_a_downgrade(self) -> None:
        """A downgrade that waits gives nothing back to who released the lock meanwhile."""
        self.ask(1, "node/b=exclusive")
        self.ask(2, "node/a=exclusive")
        self.ask(2, "node/a=shared node/b=shared")
        self.table.intersect(owner(2), [])
        self.ask(3, "node/a=exclusive")
        self.table.drop(owner(1))
        self.assertEqual((self.held(2), self.held(3)), ({"node/b": "shared"}, {"node/a": "exclusive"}))

    def test_drop(self) -> None:
        """Who ends leaves the queue too."""
        self.ask(1, "node/a=shared")
        self.ask(2, "instance/x=exclusive")
        self.ask(2, "node/a=exclusive")
        self.ask(3, "instance/x=shared")
        self.ask(4, "node/a=shared")
        self.assertEqual(sorted(self.jobs(self.table.drop(owner(2)))), [3, 4])
        self.assertNotIn(owner(2), self.table.owners())

    def test_remove(self) -> None:
        """With a lock its waiters go, and those who were kept back by them move up."""
        self.ask(1, "node/a=exclusive")
        self.ask(2, "node/a=shared node/b=exclusive")
        self.ask(3, "node/b=shared")
        removal = self.table.remove(owner(1), Lock.parse("node/a"))
        self.assertEqual((self.jobs(removal.refused), self.jobs(removal.granted)), ([2], [3]))
        self.assertEqual(self.held(1), {})

    def test_remove_needs_the_lock(self) -> None:
        """A lock is removed by who holds it exclusively, itself or by its group lock."""
        self.ask(1, "node/a=shared")
        for number in (1, 2):
            error = self.assertRaises(LockError, self.table.remove, owner(number), Lock.parse("node/a"))
            self.assertIn(f"job {number} cannot remove node/a", str(error))
        self.table.drop(owner(1))
        self.ask(3, "node/[lockset]=exclusive")
        self.assertEqual(self.table.remove(owner(3), Lock.parse("node/a")).refused, [])
        self.assertRaises(LockError, self.table.remove, owner(3), Lock.all(Level.NODE))
