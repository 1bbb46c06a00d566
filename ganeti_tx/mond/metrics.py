"""What /metrics of a node tells: of the node, of its instances, of the collectors, and of the daemon itself."""

from collections import Counter as Counting

from attrs import define
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.metrics.metric import Counter, Gauge, by_name
from ganeti_tx.metrics.page import Page, page
from ganeti_tx.metrics.process import PROCESS_METRICS
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.mond.config_facts import ConfigFacts
from ganeti_tx.mond.host_state import HostState
from ganeti_tx.mond.inst_status import InstancesReport
from ganeti_tx.mond.room import Room
from ganeti_tx.mond.run import Run
from ganeti_tx.mond.schedule import Schedule
from ganeti_tx.runtime.own_process import OwnProcess

MEMORY = Gauge("ganeti_host_memory_bytes", "Memory of this node.")
MEMORY_FREE = Gauge("ganeti_host_memory_free_bytes", "Memory of this node that new programs could have.")
CPUS = Gauge("ganeti_host_cpus", "Processors of this node.")
LOAD = Gauge("ganeti_host_load", "Processes that run or want to, on the average.", ("minutes",))
CPU_SECONDS = Counter("ganeti_host_cpu_seconds_total", "What the processors did, all together.", ("mode",))
GROUP = Gauge("ganeti_host_volume_group_bytes", "Size of a volume group.", ("volume_group",))
GROUP_FREE = Gauge("ganeti_host_volume_group_free_bytes", "What is free of it.", ("volume_group",))
DIRECTORY = Gauge("ganeti_host_storage_directory_bytes", "Size of the file system of a template.", ("disk_template",))
DIRECTORY_FREE = Gauge("ganeti_host_storage_directory_free_bytes", "What is free of it.", ("disk_template",))
INSTANCES = Gauge(
    "ganeti_host_instances",
    "Instances whose primary node this is, by what they should do and what they do.",
    ("hypervisor", "admin_state", "state"),
)
COLLECTOR_SECONDS = Gauge("ganeti_mond_collector_seconds", "How long the collector's last look took.", ("collector",))
COLLECTOR_FAILURES = Counter("ganeti_mond_collector_failures_total", "Looks that gave no report.", ("collector",))
COLLECTOR_REPORT = Gauge(
    "ganeti_mond_collector_report_timestamp_seconds", "When the collector's last report was made.", ("collector",)
)
CONFIG_AGE = Gauge("ganeti_mond_configuration_age_seconds", "How long ago the configuration was last told in full.")

METRICS = by_name(globals().values())
NANOSECONDS = 1e9


@define(eq=False)
class NodeMetrics:
    """Writes the page from the last reports; looks at nothing but the daemon's own process."""

    schedule: Schedule
    host: Run
    config: ConfigFacts
    own: OwnProcess
    clock: IReactorTime

    def page(self, accept: str = "") -> Page:
        """@param accept: the request's header of that name."""
        self.own.record()
        tally = Tally()
        tally.add(self.own.tally.readings(), PROCESS_METRICS)
        if self.host.last is not None:
            tell_host(tally, self.host.last.data)
        for run in self.schedule.active():
            tell_collector(tally, run)
        if self.config.heard is not None:
            tally.set(CONFIG_AGE, self.clock.seconds() - self.config.heard)
        return page(tally.readings(), {**METRICS, **PROCESS_METRICS}, accept)


def tell_host(tally: Tally, state: HostState) -> None:
    """What the node has and uses."""
    if state.memory is not None:
        tell_room(tally, state.memory, MEMORY, MEMORY_FREE)
    if state.cpus is not None:
        tally.set(CPUS, state.cpus)
    for minutes, load in zip(("1", "5", "15"), state.load, strict=False):
        tally.set(LOAD, load, minutes)
    for mode, seconds in state.cpu_seconds.items():
        tally.set(CPU_SECONDS, seconds, mode)
    for name, room in state.volume_groups.items():
        tell_room(tally, room, GROUP, GROUP_FREE, name)
    for template, room in state.directories.items():
        tell_room(tally, room, DIRECTORY, DIRECTORY_FREE, template)


def tell_room(tally: Tally, room: Room, size: Gauge, free: Gauge, *labels: str) -> None:
    """How much there is, and what is free of it."""
    tally.set(size, room.size, *labels)
    tally.set(free, room.free, *labels)


def tell_collector(tally: Tally, run: Run) -> None:
    """How a collector fares, and what it says of instances."""
    name = run.collector.name
    tally.set(COLLECTOR_SECONDS, run.seconds, name)
    tally.set(COLLECTOR_FAILURES, run.failures, name)
    if run.last is None:
        return
    tally.set(COLLECTOR_REPORT, run.last.timestamp / NANOSECONDS, name)
    if isinstance(run.last.data, InstancesReport):
        found = Counting((each.adminState, each.actualState) for each in run.last.data.instances)
        for (admin_state, state), count in found.items():
            tally.set(INSTANCES, count, name.rpartition("-")[2], admin_state, state)
