"""Lists of what runs, whatever some of it answers."""

from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo, RunState
from ganeti_tx.node.hypervisor.listing import listed

NAMES = ("db1", "web1", "web2")


class ListingTests(SynchronousTestCase):
    """Three instances, each of which answers when its turn comes."""

    def setUp(self) -> None:
        self.asked: dict[str, Deferred[InstanceInfo | None]] = {}
        self.listing = Deferred.fromCoroutine(listed(NAMES, self.look))

    async def look(self, name: str) -> InstanceInfo | None:
        """When somebody says what there is."""
        self.asked[name] = Deferred()
        return await self.asked[name]

    def answer(self, name: str) -> InstanceInfo:
        """One that runs."""
        info = InstanceInfo(name, 1, 128, 1, RunState.RUNNING, 0.0)
        self.asked[name].callback(info)
        return info

    def test_order(self) -> None:
        """All are asked at once, and listed in their order; what does not run is left out."""
        self.assertEqual(tuple(self.asked), NAMES)
        last, first = self.answer("web2"), self.answer("db1")
        self.assertNoResult(self.listing)
        self.asked["web1"].callback(None)
        self.assertEqual(self.successResultOf(self.listing), [first, last])

    def test_fault(self) -> None:
        """One that cannot be looked at hides no other; the log names it, once."""
        found = [self.answer("db1")]
        with capturedLogs() as logged:
            self.asked["web1"].errback(HypervisorError("no answer"))
            self.asked["web2"].errback(HypervisorError("instance web2 is a riddle"))
        self.assertEqual(self.successResultOf(self.listing), found)
        said = [formatEvent(event) for event in logged]
        self.assertEqual(said, ["instance web1: no answer", "instance web2 is a riddle"])

    def test_own_fault(self) -> None:
        """What is no word of a hypervisor is a fault of the program, and is not hidden."""
        self.answer("db1")
        self.asked["web1"].errback(KeyError("memory"))
        self.failureResultOf(self.listing, KeyError)
        self.answer("web2")
