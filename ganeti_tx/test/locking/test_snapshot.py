"""locks.data: a restart loses no held lock."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import Level, Lock
from ganeti_tx.locking.snapshot import decode, encode, to_wire
from ganeti_tx.locking.table import LockTable

ONE, TWO = Owner(1, "/l/1"), Owner(2, "/l/2")


class SnapshotTests(SynchronousTestCase):
    """Held locks there and back."""

    def test_round_trip(self) -> None:
        """What is held is held again, by the same owners; who waited is not in it."""
        table = LockTable()
        table.update(ONE, [LockRequest.shared(Lock(Level.NODE, "a")), LockRequest.exclusive(Lock(Level.INSTANCE, "x"))])
        table.update(TWO, [LockRequest.exclusive(Lock(Level.NODE, "a"))])
        data = encode(table)
        self.assertEqual(data, b'[{"job_id":1,"livelock":"/l/1","locks":{"instance/x":"exclusive","node/a":"shared"}}]')
        restored = decode(data)
        self.assertEqual(restored.held(ONE), table.held(ONE))
        self.assertEqual(restored.owners(), [ONE])
        self.assertEqual(to_wire(restored), to_wire(table))

    def test_restored_locks_hold(self) -> None:
        """A restored lock keeps others out until it is released."""
        table = decode(b'[{"job_id":1,"livelock":"/l/1","locks":{"node/[lockset]":"shared"}}]')
        ticket = table.update(TWO, [LockRequest.exclusive(Lock(Level.NODE, "a"))]).ticket
        self.assertFalse(ticket.granted)
        self.assertEqual(table.drop(ONE), [ticket])

    def test_refused(self) -> None:
        """Damage and contradiction are told apart from an empty file's content."""
        self.assertEqual(decode(b"[]").owners(), [])
        for data, why in {
            b"": "cannot read the list of held locks",
            b'[{"job_id":"x","livelock":"","locks":{}}]': "job_id",
            b'[{"job_id":1,"livelock":"","locks":{"node/a":"mine"}}]': "mine",
            b'[{"job_id":1,"livelock":"","locks":{"what/a":"shared"}}]': "what/a",
            b'[{"job_id":1,"livelock":"","locks":{"node/a":"shared"}},'
            b'{"job_id":2,"livelock":"","locks":{"node/[lockset]":"exclusive"}}]': "job 2 cannot hold node/[lockset]",
        }.items():
            self.assertIn(why, str(self.assertRaises(LockError, decode, data)))
