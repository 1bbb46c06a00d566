"""Random walks over the lock table: exclusivity, order, no lost wake-up, no deadlock, no starvation."""

from itertools import count
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import BGL, Level, Lock, Mode
from ganeti_tx.locking.snapshot import decode, encode
from ganeti_tx.locking.table import LockTable
from ganeti_tx.locking.waiters import Ticket
from ganeti_tx.test.locking.naive import NaiveTable

OWNERS = [Owner(number, f"/livelocks/{number}") for number in range(1, 7)]
MEMBERS = [Lock(level, name) for level in (Level.INSTANCE, Level.NODE) for name in "abc"]
LOCKS = [BGL, Lock.all(Level.INSTANCE), Lock.all(Level.NODE), *MEMBERS]

owners = st.sampled_from(OWNERS)
modes = st.sampled_from([Mode.SHARED, Mode.EXCLUSIVE])
priorities = st.sampled_from([-10, 0, 0, 0, 10])
requests = st.dictionaries(st.sampled_from(LOCKS), st.sampled_from([*Mode, *Mode, None]), min_size=1, max_size=4).map(
    lambda chosen: [LockRequest(lock, mode) for lock, mode in chosen.items()]
)


class LockTableWalk(RuleBasedStateMachine):
    """Does the same to the table and to the naive one; every grant must be right there, and none may be missing."""

    def __init__(self) -> None:
        super().__init__()
        self.table = LockTable()
        self.naive = NaiveTable()
        self.arrivals = count()

    def follow(self, granted: list[Ticket]) -> None:
        """Each ticket reported may be granted by the rules, at the moment of its turn."""
        for ticket in granted:
            waiter = self.naive.waiters[ticket.owner]
            assert self.naive.grantable(waiter), f"{ticket} was granted too early"
            self.naive.grant(ticket.owner)

    @rule(owner=owners, wanted=requests, priority=priorities)
    def update(self, owner: Owner, wanted: list[LockRequest], priority: int) -> None:
        """An owner asks; what is refused changes nothing."""
        before = self.table.held(owner)
        try:
            outcome = self.table.update(owner, wanted, priority)
        except LockError:
            assert self.table.held(owner) == before
            return
        self.naive.enqueue(owner, wanted, (priority, next(self.arrivals)))
        self.follow(outcome.granted)

    @rule(owner=owners, lock=st.sampled_from(MEMBERS), mode=modes, priority=priorities)
    def next_in_order(self, owner: Owner, lock: Lock, mode: Mode, priority: int) -> None:
        """An owner goes on in the order of locks, so that long chains of holders come about."""
        held = self.table.held(owner)
        if not held or lock > max(held):
            self.update(owner, [LockRequest(lock, mode)], priority)

    @rule(owner=owners, wanted=requests, priority=priorities)
    def opportunistic_union(self, owner: Owner, wanted: list[LockRequest], priority: int) -> None:
        """Never fails; gives only what is free; takes nothing from anybody."""
        before = self.table.held(owner)
        union = self.table.opportunistic_union(owner, wanted, priority)
        after = {**before, **{request.lock: request.mode for request in wanted if request.lock in union.acquired}}
        assert union.acquired <= {request.lock for request in wanted if request.mode is not None}
        self.naive.held[owner] = {lock: mode for lock, mode in after.items() if mode is not None}
        self.follow(union.granted)

    @rule(owner=owners, keep=st.sets(st.sampled_from(LOCKS)))
    def intersect(self, owner: Owner, keep: set[Lock]) -> None:
        """Only what is listed stays."""
        granted = self.table.intersect(owner, keep)
        own = self.naive.of(owner)
        for lock in [lock for lock in own if lock not in keep]:
            del own[lock]
        self.follow(granted)

    @rule(owner=owners)
    def drop(self, owner: Owner) -> None:
        """An owner ends."""
        granted = self.table.drop(owner)
        if owner in self.naive.waiters:
            self.naive.leave(self.naive.waiters[owner])
        self.naive.of(owner).clear()
        self.follow(granted)

    @rule(owner=owners)
    def withdraw(self, owner: Owner) -> None:
        """A waiter gives up."""
        ticket = self.table.waiting(owner)
        if ticket is not None:
            self.naive.leave(self.naive.waiters[owner])
            self.follow(self.table.withdraw(ticket))

    @rule(owner=owners, priority=priorities)
    def set_priority(self, owner: Owner, priority: int) -> None:
        """A waiter moves in the queue."""
        granted = self.table.set_priority(owner, priority)
        waiter = self.naive.waiters.get(owner)
        if waiter is not None and waiter.place[0] != priority:
            self.naive.leave(waiter)
            waiter.place, waiter.places = (priority, waiter.place[1]), {}
            self.naive.insert(waiter)
        self.follow(granted)

    @rule(owner=owners, lock=st.sampled_from(MEMBERS))
    def remove(self, owner: Owner, lock: Lock) -> None:
        """An object is deleted by who holds its lock exclusively; nobody waits for it any longer."""
        if not self.naive.has(owner, lock, Mode.EXCLUSIVE):
            return
        removal = self.table.remove(owner, lock)
        assert {ticket.owner for ticket in removal.refused} == {
            waiter.owner for waiter in self.naive.waiters.values() if lock in waiter.wants
        }
        for ticket in removal.refused:
            self.naive.leave(self.naive.waiters[ticket.owner])
        self.naive.of(owner).pop(lock, None)
        self.follow(removal.granted)

    @invariant()
    def same_state(self) -> None:
        """Table and naive table agree on who holds what and who waits."""
        for owner in OWNERS:
            assert self.table.held(owner) == self.naive.of(owner)
            assert (self.table.waiting(owner) is None) == (owner not in self.naive.waiters)

    @invariant()
    def exclusive(self) -> None:
        """Nobody holds what another has for himself."""
        assert self.naive.faults() == []

    @invariant()
    def nothing_grantable_waits(self) -> None:
        """No wake-up is lost."""
        assert [str(waiter) for waiter in self.naive.waiters.values() if self.naive.grantable(waiter)] == []

    @invariant()
    def somebody_runs(self) -> None:
        """While somebody waits, somebody holds locks and does not wait: no deadlock."""
        running = [owner for owner in OWNERS if self.naive.of(owner) and owner not in self.naive.waiters]
        assert running or not self.naive.waiters

    @invariant()
    def survives_a_restart(self) -> None:
        """Saved and loaded, the same is held."""
        loaded = decode(encode(self.table))
        assert all(loaded.held(owner) == self.table.held(owner) for owner in OWNERS)

    @invariant()
    def overview_agrees(self) -> None:
        """The overview shows each holder and each waiter."""
        rows = self.table.overview()
        assert {(row.lock, owner) for row in rows for owner in row.owners} == {
            (lock, owner) for owner, locks in self.naive.held.items() for lock in locks
        }
        assert {(row.lock, owner) for row in rows for _, group in row.pending for owner in group} == {
            (lock, waiter.owner) for waiter in self.naive.waiters.values() for lock in waiter.wants
        }

    def teardown(self) -> None:
        """When all who run end, one after another, everybody has had his locks."""
        while waiting := set(self.naive.waiters):
            for owner in OWNERS:
                if owner not in self.naive.waiters:
                    self.drop(owner)
            assert set(self.naive.waiters) < waiting


def wander(walk: LockTableWalk, random: Random) -> None:
    """One step among few locks, mostly onwards in the order, so that many hold something and wait for more."""
    owner, priority = random.choice(OWNERS), random.choice([-10, 0, 0, 0])
    locks = [BGL, *(lock for lock in LOCKS if lock.level is Level.NODE)]
    held = walk.table.held(owner)
    onwards = [lock for lock in locks if not held or lock >= max(held)]
    some = random.sample(onwards, min(len(onwards), random.choice([1, 1, 2, 3])))
    wanted = [LockRequest(lock, random.choice(list(Mode))) for lock in some]
    chance = random.random()
    if chance < 0.75:
        walk.update(owner, wanted, priority)
    elif chance < 0.80:
        walk.opportunistic_union(owner, wanted, priority)
    elif chance < 0.84:
        walk.intersect(owner, set(random.sample(locks, 3)))
    elif chance < 0.88:
        walk.withdraw(owner)
    elif chance < 0.92:
        walk.set_priority(owner, priority)
    elif chance < 0.95:
        walk.remove(owner, random.choice(MEMBERS))
    else:
        walk.drop(owner)


INVARIANTS = [
    LockTableWalk.same_state,
    LockTableWalk.exclusive,
    LockTableWalk.nothing_grantable_waits,
    LockTableWalk.somebody_runs,
]


class LockTableWalkTests(SynchronousTestCase):
    """The walks as tests."""

    def test_short_walks(self) -> None:
        """Whatever owners do, in whatever order, the invariants hold after each step."""
        walks = settings(
            max_examples=50, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        )
        run_state_machine_as_test(LockTableWalk, settings=walks)

    @settings(max_examples=40, deadline=None)
    @given(seed=st.integers(0, 2**32))
    def test_crowded_walks(self, seed: int) -> None:
        """The invariants hold while most owners hold locks and wait for more."""
        walk, random = LockTableWalk(), Random(seed)
        for _ in range(80):
            wander(walk, random)
            for check in INVARIANTS:
                check(walk)
        walk.teardown()


class StarvationTests(SynchronousTestCase):
    """Others come and go without end."""

    @settings(max_examples=150, deadline=None)
    @given(seed=st.integers(0, 2**32))
    def test_granted_in_bounded_time(self, seed: int) -> None:
        """A waiter is granted after no more turns of the others than there are locks, whatever arrives behind it."""
        random, table, numbers = Random(seed), LockTable(), count(100)
        table.update(Owner(1, "/1"), [LockRequest.exclusive(lock) for lock in random.sample(LOCKS, 3)])
        ticket = table.update(Owner(2, "/2"), [LockRequest.exclusive(lock) for lock in random.sample(LOCKS, 4)]).ticket
        turns = 0
        while not ticket.granted:
            turns += 1
            self.assertLessEqual(turns, len(LOCKS))
            running = [owner for owner in table.owners() if table.waiting(owner) is None]
            for _ in range(random.randint(0, 5)):
                self.arrive(table, random, next(numbers))
            for owner in running:
                table.drop(owner)

    def arrive(self, table: LockTable, random: Random, number: int) -> None:
        """Somebody takes one lock, and if he has it asks for another behind it, as jobs do level by level."""
        owner = Owner(number, f"/{number}")
        first, second = sorted(random.sample(LOCKS, 2))
        table.update(owner, [LockRequest(first, random.choice(list(Mode)))], random.choice([0, 10]))
        if table.waiting(owner) is None and not (first.is_set and second.group == first):
            table.update(owner, [LockRequest(second, random.choice(list(Mode)))], random.choice([0, 10]))
