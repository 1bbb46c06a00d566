"""The page of a node's metrics."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.metrics.process import Usage
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.mond.config_facts import ConfigFacts
from ganeti_tx.mond.host_state import HostState
from ganeti_tx.mond.inst_status import Reasons, Seen, instances_report
from ganeti_tx.mond.interfaces import NodeFacts
from ganeti_tx.mond.metrics import NodeMetrics
from ganeti_tx.mond.room import Room
from ganeti_tx.mond.run import Run
from ganeti_tx.mond.schedule import Schedule
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.mond.parts import Scripted, Silent, known

STATE = HostState(
    memory=Room(8, 3), cpus=2, load=(0.5, 1.0, 1.5), cpu_seconds={"user": 7.5},
    volume_groups={"xenvg": Room(20, 10)}, directories={"file": Room(30, 15)},
)  # fmt: skip


class MetricsTests(SynchronousTestCase):
    """A node with two instances whose looks end when the test says so."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.looks = {name: Scripted(name) for name in ("inst-status-kvm", "lv")}
        self.schedule = Schedule(list(self.looks.values()), self.clock, lambda: 5_000_000_000)
        self.schedule.apply({}, ("kvm",))
        self.host = Scripted("host-state")
        host = Run(self.host, self.clock, lambda: 0)
        host.every(15)
        self.config = ConfigFacts("node1", Silent(), MemoryFiles(), Paths(), self.clock)
        own = OwnProcess("ganeti-mond", Tally(), self.clock, lambda: Usage(resident=1234))
        self.metrics = NodeMetrics(self.schedule, host, self.config, own, self.clock)

    def samples(self) -> dict[tuple[str, tuple[str, ...]], float]:
        """Every number of the page as Prometheus reads it, by name and label values."""
        families = text_string_to_metric_families(self.metrics.page().body.decode())
        return {(each.name, tuple(each.labels.values())): each.value for family in families for each in family.samples}

    def report(self) -> Any:
        """What the collector of instances says."""
        facts = NodeFacts((known("a"), known("b"), known("c", admin_state="down")), heard=True)
        return instances_report(facts, frozenset({"kvm"}), {"a": Seen("running")}, Reasons(MemoryFiles(), Paths()))

    def test_young(self) -> None:
        """Before anything is known the page tells of the daemon itself."""
        found = self.samples()
        self.assertEqual(found["ganeti_process_resident_memory_bytes", ("ganeti-mond",)], 1234)
        self.assertEqual([name for name, _ in found if name.startswith("ganeti_host")], [])

    def test_host(self) -> None:
        """What the node has and uses."""
        self.host.looks[0].callback(STATE)
        found = self.samples()
        for name, labels, value in (
            ("memory_bytes", (), 8), ("memory_free_bytes", (), 3), ("cpus", (), 2), ("load", ("5",), 1.0),
            ("cpu_seconds_total", ("user",), 7.5), ("volume_group_bytes", ("xenvg",), 20),
            ("volume_group_free_bytes", ("xenvg",), 10), ("storage_directory_bytes", ("file",), 30),
            ("storage_directory_free_bytes", ("file",), 15),
        ):  # fmt: skip
            self.assertEqual(found[f"ganeti_host_{name}", labels], value)

    def test_instances(self) -> None:
        """Instances are counted by hypervisor, what they should do and what they do; those that are gone are not."""
        self.looks["inst-status-kvm"].looks[0].callback(self.report())
        found = self.samples()
        counted = {labels: value for (name, labels), value in found.items() if name == "ganeti_host_instances"}
        admin_hypervisor_state = {("up", "kvm", "running"): 1, ("up", "kvm", "down"): 1, ("down", "kvm", "down"): 1}
        self.assertEqual(counted, admin_hypervisor_state)
        self.schedule.apply({}, ())
        self.assertEqual([name for name, _ in self.samples() if name == "ganeti_host_instances"], [])

    def test_collectors(self) -> None:
        """How the collectors fare: durations, failures, and when the last report was made."""
        self.clock.advance(2)
        self.looks["lv"].looks[0].callback({"lvs": []})
        self.looks["inst-status-kvm"].looks[0].errback(BlockDeviceError("x"))
        found = self.samples()
        self.assertEqual(found["ganeti_mond_collector_seconds", ("lv",)], 2)
        self.assertEqual(found["ganeti_mond_collector_report_timestamp_seconds", ("lv",)], 5)
        self.assertEqual(found["ganeti_mond_collector_failures_total", ("inst-status-kvm",)], 1)
        self.assertNotIn(("ganeti_mond_collector_report_timestamp_seconds", ("inst-status-kvm",)), found)

    def test_configuration(self) -> None:
        """How old the knowledge of the configuration is, once there is some."""
        self.assertNotIn(("ganeti_mond_configuration_age_seconds", ()), self.samples())
        self.config.heard = self.clock.seconds()
        self.clock.advance(33)
        self.assertEqual(self.samples()["ganeti_mond_configuration_age_seconds", ()], 33)
