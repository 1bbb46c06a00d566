"""Which collectors run."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.settings.collectors import COLLECTORS, DEFAULT_COLLECTOR, DataCollector
from ganeti_tx.mond.interfaces import Category
from ganeti_tx.mond.schedule import NEEDS, Schedule
from ganeti_tx.test.mond.parts import CONTRACT, Scripted


class ScheduleTests(SynchronousTestCase):
    """Three collectors, one of Xen."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.names = ["diskstats", "lv", "inst-status-xen"]
        self.collectors = {name: Scripted(name, Category.STORAGE) for name in self.names}
        self.schedule = Schedule(list(self.collectors.values()), self.clock, lambda: 0)

    def active(self) -> list[str]:
        """Their names."""
        return [run.collector.name for run in self.schedule.active()]

    def test_settings(self) -> None:
        """What is active runs on its interval; what is not does not, and stops when it was."""
        self.schedule.apply(
            {
                "diskstats": DataCollector(active=True, interval=2_000_000),
                "lv": DataCollector(active=False, interval=2_000_000),
            },
            ("kvm",),
        )
        self.assertEqual(self.active(), ["diskstats"])
        self.collectors["diskstats"].looks[0].callback(1)
        self.clock.advance(2)
        self.assertEqual([len(each.looks) for each in self.collectors.values()], [2, 0, 0])
        self.schedule.apply(
            {name: DataCollector(active=name == "lv", interval=2_000_000) for name in self.names}, ("kvm",)
        )
        self.assertEqual(self.active(), ["lv"])
        self.clock.advance(60)
        self.assertEqual(len(self.collectors["diskstats"].looks), 2)

    def test_unnamed(self) -> None:
        """What the settings do not name, as before they are known, is active with the reference's interval."""
        self.schedule.apply({}, ("kvm",))
        self.assertEqual(self.active(), ["diskstats", "lv"])
        self.assertEqual(DEFAULT_COLLECTOR.interval, CONTRACT["default_interval_us"])

    def test_xen(self) -> None:
        """A collector of Xen's instances needs one of Xen's hypervisors; every hypervisor's has its own."""
        for hypervisor in ("xen-pvm", "xen-hvm"):
            self.schedule.apply({}, ("kvm", hypervisor))
            self.assertEqual(self.active(), self.names)
        self.assertLessEqual(set(NEEDS), set(COLLECTORS))

    def test_short_interval(self) -> None:
        """No setting makes it look all the time."""
        self.schedule.apply({"diskstats": DataCollector(active=True, interval=0)}, ())
        self.collectors["diskstats"].looks[0].callback(1)
        self.clock.advance(0.5)
        self.assertEqual(len(self.collectors["diskstats"].looks), 1)

    def test_find(self) -> None:
        """A collector is found under its category only, and only while it is active."""
        self.schedule.apply({"lv": DataCollector(active=False, interval=1)}, ())
        self.assertIsNotNone(self.schedule.find("storage", "diskstats"))
        for category, name in (("default", "diskstats"), ("storage", "lv"), ("storage", "nosuch")):
            self.assertIsNone(self.schedule.find(category, name))

    def test_stop(self) -> None:
        """Nothing runs after a stop."""
        self.schedule.apply({}, ())
        self.schedule.stop()
        self.assertEqual((self.active(), self.clock.getDelayedCalls()), ([], []))
