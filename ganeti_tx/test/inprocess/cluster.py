"""A whole cluster in one process: master daemons, job runners and node daemons on simulated time, network and disks."""

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Any, TypeVar

import msgspec
from attrs import define, field

from ganeti_tx.bootstrap.cluster_settings import check_params, cluster_settings
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.config.changes_node import add_node
from ganeti_tx.config.new_cluster import FirstNode, new_cluster
from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import ResolverError
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.logic.base import UnitTable
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.node import Node
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import Resolver
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.fakes.storage import FakeDisk
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.launcher import InProcessZygote
from ganeti_tx.test.inprocess.master import PATIENCE, MasterDaemons
from ganeti_tx.test.inprocess.network import Network
from ganeti_tx.test.inprocess.node import CLUSTER_NAME, SimulatedNode, cluster_keys, keys_of
from ganeti_tx.test.inprocess.power import LosingFiles
from ganeti_tx.test.inprocess.simulation import BEGINNING, Process, SimulatedTime
from ganeti_tx.test.inprocess.sockets import Sockets

T = TypeVar("T")

MASTER_IP = "192.0.2.100"
#: Names that resolve besides the nodes' and the cluster's: instances that a test may make.
INSTANCES = {f"web{number}.example.com": f"192.0.2.{200 + number}" for number in range(1, 10)}


@define(eq=False)
class InProcessCluster(MasterDaemons):
    """A cluster of `size` nodes, of which the first is the master; `spare` machines more can be added to it.

    The same seed gives the same run.
    """

    size: int = 3
    seed: int = 0
    spare: int = 1
    time: SimulatedTime = field(factory=SimulatedTime)
    about_to: Callable[[Process, Callable[..., Any]], None] | None = None
    units_of: Callable[[str], UnitTable] = lambda livelock: UNITS
    sockets: Sockets = field(factory=Sockets)
    network: Network = field(factory=Network)
    liveness: FakeLiveness = field(factory=FakeLiveness)
    paths: Paths = field(factory=Paths)
    processes: list[Process] = field(factory=list)
    nodes: dict[str, SimulatedNode] = field(factory=dict)
    entropy: SeededEntropy = field(init=False)
    make_disk: Callable[[SimulatedTime], LosingFiles] = lambda time: LosingFiles(time.seconds)
    _shared: dict[str, FakeDisk] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.entropy = SeededEntropy(self.seed)
        for number in range(1, self.size + self.spare + 1):
            name, address = f"node{number}.example.com", f"192.0.2.{number}"
            self.nodes[name] = SimulatedNode(
                name, address, self.network, self.new_process, self._shared, self.time, self.make_disk(self.time)
            )
        for node in self.nodes.values():
            put(node.disk, self.paths.etc_hosts, self._hosts().encode())
        config = self._configuration()
        put(self.master.disk, self.paths.config_file, encode(config), 0o640)
        for node in self.members:
            node.join(ssconf_values(config))
        resolver = Resolver(self.master.disk, self.paths, InlineThreads(), self.time, unknown_host)
        self.zygote = InProcessZygote(
            self.new_process, self.master, self.paths, self.network, self.liveness, resolver.resolve, self.units_of
        )
        self.start_wconfd()
        self.start_luxid()

    # Its parts

    @property
    def master(self) -> SimulatedNode:
        """The node that the master daemons run on."""
        return self.node(1)

    @property
    def members(self) -> list[SimulatedNode]:
        """The nodes that the cluster begins with."""
        return list(self.nodes.values())[: self.size]

    def node(self, number: int) -> SimulatedNode:
        """A node by its number, from 1."""
        return self.nodes[f"node{number}.example.com"]

    def machine(self, name: str) -> SimulatedNode | None:
        """A node, or a machine that can become one, by its full or short name."""
        return self.nodes.get(name) or self.nodes.get(f"{name}.example.com")

    def new_process(self, name: str) -> Process:
        """One more simulated process."""
        process = Process(name, self.time, self.sockets, about_to=self.about_to)
        self.processes.append(process)
        return process

    def _hosts(self) -> str:
        names = {name: node.address for name, node in self.nodes.items()} | {CLUSTER_NAME: MASTER_IP} | INSTANCES
        return "".join(f"{address} {name} {name.split('.')[0]}\n" for name, address in names.items())

    def _configuration(self) -> ConfigData:
        problems = Problems()
        settings = InitSettings(cluster_name=CLUSTER_NAME, enabled_hypervisors=["fake"])
        params = cluster_settings(settings, check_params(settings, problems))
        problems.stop_if_any()
        digest = cluster_keys()[1].client_digest
        config = new_cluster(
            cluster_name=CLUSTER_NAME,
            master_ip=MASTER_IP,
            master_netdev="lo",
            master=FirstNode(self.master.name, self.master.address, self.master.address, digest),
            settings=params,
            entropy=self.entropy.random_bytes,
            now=BEGINNING,
        )
        (first,) = config.nodes.values()
        for node in self.members[1:]:
            digest = keys_of(node.name, node.address).client_digest
            config = add_node(self._like(first, node), digest)(config, BEGINNING)
        return config

    def _like(self, first: Node, node: SimulatedNode) -> Node:
        return msgspec.structs.replace(
            first, uuid=self.entropy.uuid(), name=node.name, primary_ip=node.address, secondary_ip=node.address
        )

    # Its life

    def run(self, work: Awaitable[T], limit: float = PATIENCE) -> T:
        """Let time pass until the work has ended; its result."""
        return self.time.run(work, limit)

    def pass_time(self, seconds: float) -> None:
        """Let everything happen that happens within so many seconds."""
        self.time.pass_time(seconds)

    def end(self) -> None:
        """End every process."""
        for process in self.processes:
            process.die()

    def lose_power(self, node: SimulatedNode, chance: Random) -> None:
        """A machine goes dark; if it is the master, so do its daemons and every job."""
        if node is self.master:
            self.kill_wconfd()
            self.kill_luxid()
            self.zygote.lose_power()
        node.lose_power(chance)

    # What can be seen

    def locks(self) -> Sequence[LockStatus]:
        """Every lock that is held or waited for."""
        return self.wconfd.locks.overview()

    def disks(self) -> dict[str, list[str]]:
        """The disks that exist, by node."""
        found = {name: sorted(node.files_storage.disks) for name, node in self.nodes.items()}
        return {name: disks for name, disks in {**found, "shared": sorted(self._shared)}.items() if disks}

    def running(self) -> dict[str, list[str]]:
        """The instances that run, by node."""
        found = {name: node.running() for name, node in self.nodes.items()}
        return {name: names for name, names in found.items() if names}


def unknown_host(name: str) -> tuple[str, str]:
    """There is no other name service."""
    raise ResolverError(name, None, "no such host")
