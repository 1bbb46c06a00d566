"""How often somebody may guess."""

from twisted.internet.task import Clock
from twisted.logger import ILogObserver, LogEvent, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import provider

from ganeti_tx.rapi.access.throttle import ADDRESS_FAILURES, ADDRESS_REFILL, NAME_FAILURES, Throttle, network_of
from ganeti_tx.rapi.http.http_errors import HttpError


class ThrottleTests(SynchronousTestCase):
    """Failures by address and by name."""

    def setUp(self) -> None:
        """Nobody has failed."""
        self.clock = Clock()
        self.throttle = Throttle(self.clock)

    def fail_often(self, peer: str, name: str, times: int) -> None:
        """Attempts that are never taken back."""
        for _ in range(times):
            self.throttle.begin(peer, name)

    def refused(self, peer: str, name: str) -> int:
        """Seconds that an attempt must wait."""
        error = self.assertRaises(HttpError, self.throttle.begin, peer, name)
        self.assertEqual(error.status, 429)
        return int(error.headers["Retry-After"])

    def test_address(self) -> None:
        """An address has so many failures, whatever the names, and then one more each while."""
        for number in range(ADDRESS_FAILURES):
            self.throttle.begin("192.0.2.1", f"user{number}")
        wait = self.refused("192.0.2.1", "other")
        self.throttle.begin("192.0.2.2", "user1")
        self.assertLessEqual(wait, ADDRESS_REFILL + 1)
        self.clock.advance(wait)
        self.throttle.begin("192.0.2.1", "other")
        self.refused("192.0.2.1", "other")

    def test_told_once(self) -> None:
        """The log hears of it once, however often and long it goes on, and again after a time without failures."""
        told: list[str] = []

        @provider(ILogObserver)
        def observer(event: LogEvent) -> None:
            told.append(formatEvent(event))

        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        for _ in range(5):
            self.fail_often("192.0.2.1", "a", ADDRESS_FAILURES if not told else 1)
            self.refused("192.0.2.1", "a")
            self.clock.advance(self.refused("192.0.2.1", "a"))
        self.assertEqual(len(told), 1)
        self.clock.advance(ADDRESS_FAILURES * ADDRESS_REFILL)
        self.fail_often("192.0.2.1", "a", ADDRESS_FAILURES)
        self.refused("192.0.2.1", "a")
        self.assertEqual(len(told), 2)

    def test_refused_attempts_cost_nothing(self) -> None:
        """Asking while refused does not make the wait longer."""
        self.fail_often("192.0.2.1", "a", ADDRESS_FAILURES)
        waits = [self.refused("192.0.2.1", "a") for _ in range(100)]
        self.assertEqual(len(set(waits)), 1)

    def test_success(self) -> None:
        """What is right is never counted, but does not forgive what was wrong."""
        for _ in range(ADDRESS_FAILURES * 3):
            self.throttle.begin("192.0.2.1", "a").take_back()
        self.fail_often("192.0.2.1", "a", ADDRESS_FAILURES - 1)
        self.throttle.begin("192.0.2.1", "a").take_back()
        self.throttle.begin("192.0.2.1", "a")
        self.refused("192.0.2.1", "a")

    def test_many_at_once(self) -> None:
        """Attempts whose end is not known yet count as failed, so more at once win nothing."""
        attempts = [self.throttle.begin("192.0.2.1", "a") for _ in range(ADDRESS_FAILURES)]
        self.refused("192.0.2.1", "a")
        attempts[0].take_back()
        self.throttle.begin("192.0.2.1", "a")

    def test_name_under_attack(self) -> None:
        """Once many addresses failed for a name, each has one failure for it; others for other names as before."""
        for number in range(NAME_FAILURES):
            self.throttle.begin(f"192.0.2.{number}", "root")
        self.refused("192.0.2.1", "root")
        self.throttle.begin("192.0.2.1", "ann")
        self.throttle.begin("198.51.100.1", "root")
        self.refused("198.51.100.1", "root")

    def test_no_lock_out(self) -> None:
        """However much a name is attacked, its owner gets in from where nobody failed for it."""
        for number in range(NAME_FAILURES * 10):
            self.throttle.begin(f"10.0.{number // 250}.{number % 250}", "root")
        for _ in range(50):
            self.throttle.begin("203.0.113.9", "root").take_back()

    def test_bounded(self) -> None:
        """What is remembered does not grow without end."""
        self.throttle = Throttle(self.clock, remembered=100)
        for number in range(1000):
            self.throttle.begin(f"10.0.{number // 250}.{number % 250}", f"user{number}")
        sizes = {len(counts._counts) for counts in
                 (self.throttle._addresses, self.throttle._names, self.throttle._pairs)}  # fmt: skip
        self.assertEqual(sizes, {100})

    def test_networks(self) -> None:
        """With IPv6 a whole /64 is one address; IPv4 mapped into it is IPv4."""
        self.assertEqual(network_of("2001:db8::1"), network_of("2001:db8::ffff:2"))
        self.assertNotEqual(network_of("2001:db8::1"), network_of("2001:db8:0:1::1"))
        self.assertEqual(network_of("::ffff:192.0.2.1"), "192.0.2.1")
        self.assertEqual(network_of("fe80::1%eth0"), "fe80::/64")
        self.assertEqual(network_of("somewhere"), "somewhere")
