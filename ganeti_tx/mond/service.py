"""The monitoring daemon put together."""

import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from attrs import define
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import ServerFactory
from twisted.logger import Logger

from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.own_ports import MOND_PORT
from ganeti_tx.mond.asking import Asking, MakeClient, make_client
from ganeti_tx.mond.config_facts import ConfigFacts, IAsk
from ganeti_tx.mond.cpu_load import CpuLoad
from ganeti_tx.mond.diskstats import DiskStats
from ganeti_tx.mond.drbd import DrbdCollector
from ganeti_tx.mond.host_state import HostStateCollector
from ganeti_tx.mond.http import MonitoringSite
from ganeti_tx.mond.inst_status import Reasons
from ganeti_tx.mond.inst_status_kvm import InstanceStatusKvm, KvmInstances
from ganeti_tx.mond.inst_status_xen import InstanceStatusXen
from ganeti_tx.mond.interfaces import ICollector, IConfigFacts
from ganeti_tx.mond.lv import LogicalVolumes
from ganeti_tx.mond.metrics import NodeMetrics
from ganeti_tx.mond.room import Rooms
from ganeti_tx.mond.run import Run
from ganeti_tx.mond.schedule import Schedule
from ganeti_tx.mond.xen_cpu_avg_load import XenCpuAvgLoad
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses, LinuxQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import ConnectQmp, UnixQmpConnector
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.own_address import OwnAddress
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.threads import IThreads, reactor_threads

log = Logger()

PORT = MOND_PORT
#: Connections that may wait to be taken in.
BACKLOG = 128
#: Seconds between two looks at what /metrics tells of the node.
HOST_INTERVAL = 15.0


@define
class MondParts:
    """What the daemon works with; the composition root fills it with real things or with simulated ones."""

    name: str
    paths: Paths
    files: IFiles
    threads: IThreads
    runner: IProcessRunner
    clock: IReactorTime
    reactor: IDaemonReactor
    now: Callable[[], int]  # nanoseconds since the epoch
    qemus: IQemuProcesses
    connect_qmp: ConnectQmp
    make_client: MakeClient


def real_parts(reactor: IDaemonReactor) -> MondParts:
    """The daemon's parts on this machine."""
    threads = reactor_threads(reactor)
    return MondParts(
        name=own_name(),
        paths=Paths.from_environment(os.environ),
        files=RealFiles(threads),
        threads=threads,
        runner=ReactorProcessRunner(reactor, reactor),
        clock=reactor,
        reactor=reactor,
        now=time.time_ns,
        qemus=LinuxQemuProcesses(reactor),
        connect_qmp=UnixQmpConnector(reactor, reactor),
        make_client=partial(make_client, reactor),
    )


def collectors_of(parts: MondParts, config: IConfigFacts) -> list[ICollector]:
    """Every collector, in the order in which they are listed."""
    reasons = Reasons(parts.files, parts.paths)
    machines = OwnMachines(parts.paths, parts.files, parts.qemus, Monitors(parts.connect_qmp))
    kvm = KvmInstances(machines, parts.clock)
    return [
        CpuLoad(parts.files, parts.clock),
        DiskStats(parts.files),
        DrbdCollector(parts.files, config),
        InstanceStatusKvm(kvm, config, reasons),
        InstanceStatusXen(parts.runner, config, reasons),
        LogicalVolumes(parts.runner, config),
        XenCpuAvgLoad(parts.runner, parts.clock),
    ]


@define(eq=False)
class Monitoring:
    """All that runs in the daemon."""

    config: ConfigFacts
    schedule: Schedule
    host: Run
    own: OwnProcess
    site: MonitoringSite

    async def start(self) -> None:
        """Ask, look and count from now on; done once somebody has been asked what the cluster wants."""
        self.own.start()
        self.host.every(HOST_INTERVAL)
        await self.config.start()

    def stop(self) -> None:
        """Leave nothing to do."""
        self.config.stop()
        self.schedule.stop()
        self.host.stop()
        self.own.stop()


def monitoring(parts: MondParts, questions: IAsk) -> Monitoring:
    """Everything put together, not started yet."""
    config = ConfigFacts(parts.name, questions, parts.files, parts.paths, parts.clock)
    schedule = Schedule(collectors_of(parts, config), parts.clock, parts.now)
    config.told = schedule.apply
    state = HostStateCollector(parts.files, parts.paths, parts.runner, Rooms(parts.threads, parts.clock))
    host = Run(state, parts.clock, parts.now)
    own = OwnProcess("ganeti-mond", Tally(), parts.clock)
    metrics = NodeMetrics(schedule, host, config, own, parts.clock)
    return Monitoring(config, schedule, host, own, MonitoringSite(schedule, metrics.page, parts.reactor))


async def start(parts: MondParts, port: int, address: str | None) -> Callable[[], Awaitable[None]]:
    """Tell on the node's own address. @raise NotInClusterError: the node is not part of a cluster."""
    if not parts.files.exists(parts.paths.hmac_key):
        raise not_in_cluster(parts.paths.hmac_key)
    own = await OwnAddress(parts.files, parts.paths, parts.threads, parts.clock).primary(parts.name)
    asking = Asking(parts.paths, own, parts.clock, parts.make_client)
    running = monitoring(parts, asking)
    await running.start()
    address = address or own
    site: ServerFactory[Any] = running.site
    listening = parts.reactor.listenTCP(port, site, backlog=BACKLOG, interface=address)
    log.info("monitoring of {name} on {where}", name=parts.name, where=host_port(address, port))

    async def stop() -> None:
        await maybeDeferred(listening.stopListening)
        running.stop()
        asking.close()

    return stop
