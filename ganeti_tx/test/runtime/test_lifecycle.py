"""Tables of states."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.lifecycle import IllegalTransition, Lifecycle

FOLLOWING = {"closed": {"open"}, "open": {"closed", "broken"}, "broken": set[str]()}


class LifecycleTests(SynchronousTestCase):
    """A door."""

    def test_table(self) -> None:
        """What the table names follows; all else is refused, names both states, and changes nothing."""
        door = Lifecycle(FOLLOWING, "closed")
        for state in ("open", "closed", "open", "broken"):
            door.enter(state)
            self.assertEqual(door.state, state)
        for state in FOLLOWING:
            error = self.assertRaises(IllegalTransition, door.enter, state)
            self.assertEqual(str(error), f"{state} cannot follow broken")
            self.assertEqual(door.state, "broken")
