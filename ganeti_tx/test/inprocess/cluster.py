"""A whole cluster in one process: master daemons, job runners and node daemons on simulated time, network and disks."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from random import Random
from socket import AddressFamily
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
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.unit import UnitTable
from ganeti_tx.luxid.service import Luxid
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.node import Node
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import Resolver
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.fakes.transfers import TransferWire
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.launcher import InProcessZygote
from ganeti_tx.test.inprocess.master import TIMEOUT, MasterDaemons
from ganeti_tx.test.inprocess.master_service import MasterService
from ganeti_tx.test.inprocess.network import Network
from ganeti_tx.test.inprocess.node import MASTER_IP, SimulatedNode
from ganeti_tx.test.inprocess.node_keys import CLUSTER_NAME, cluster_keys, keys_of
from ganeti_tx.test.inprocess.power import LosingFiles
from ganeti_tx.test.inprocess.shared_storage import SharedStorage
from ganeti_tx.test.inprocess.simulation import BEGINNING, Process, SimulatedTime
from ganeti_tx.test.inprocess.sockets import Sockets
from ganeti_tx.wconfd.service import Wconfd

T = TypeVar("T")

#: Names that resolve besides the nodes' and the cluster's: instances that a test may make.
INSTANCES = {f"web{number}.example.com": f"192.0.2.{200 + number}" for number in range(1, 10)}


@define(eq=False)
class InProcessCluster:
    """A cluster of `size` nodes, of which the first is the master; `spare` machines more can be added to it.

    The same seed gives the same run. With `voting` the nodes know who calls them, and another can become the master.
    """

    size: int = 3
    seed: int = 0
    spare: int = 1
    time: SimulatedTime = field(factory=SimulatedTime)
    about_to: Callable[[Process, Callable[..., Any]], None] | None = None
    units_of: Callable[[str, str], UnitTable] = lambda node, livelock: UNITS
    voting: bool = False
    #: Nodes copy disks over it.
    transfer_wire: TransferWire = field(factory=TransferWire)
    #: Nodes mirror disks over it, in the place of DRBD.
    mirror_wire: MirrorWire | None = None
    #: Makes of the configuration of a new cluster the one that this begins with.
    prepare: Callable[[ConfigData], ConfigData] = lambda config: config
    network: Network = field(factory=Network)
    paths: Paths = field(factory=Paths)
    processes: list[Process] = field(factory=list)
    nodes: dict[str, SimulatedNode] = field(factory=dict)
    daemons: dict[str, MasterDaemons] = field(factory=dict)
    acting: MasterDaemons = field(init=False)
    #: Hear of it when another node acts as the master.
    heralds: list[Callable[[], None]] = field(factory=list)
    entropy: SeededEntropy = field(init=False)
    make_disk: Callable[[SimulatedTime], LosingFiles] = lambda time: LosingFiles(time.seconds)
    shared: SharedStorage = field(factory=SharedStorage)

    def __attrs_post_init__(self) -> None:
        self.entropy = SeededEntropy(self.seed)
        for number in range(1, self.size + self.spare + 1):
            self._add_machine(f"node{number}.example.com", f"192.0.2.{number}")
        self.acting = self.daemons["node1.example.com"]
        for node in self.nodes.values():
            put(node.disk, self.paths.etc_hosts, self._hosts().encode())
        config = self.prepare(self._configuration())
        for node in self.members if self.voting else [self.master]:
            put(node.disk, self.paths.config_file, encode(config), 0o640)
        for node in self.members:
            node.join(ssconf_values(config))
        self.start_wconfd()
        self.start_luxid()

    def _add_machine(self, name: str, address: str) -> None:
        node = self.nodes[name] = SimulatedNode(
            name,
            address,
            self.network,
            self.new_process,
            self.shared,
            self.time,
            self.make_disk(self.time),
            self.transfer_wire,
            self.mirror_wire,
        )
        resolver = Resolver(node.disk, self.paths, InlineThreads(), self.time, unknown_host)
        daemons = self.daemons[name] = MasterDaemons(
            node, self.time, self.network, self.paths, self.entropy, self._make_process, partial(self.units_of, name),
            resolver.resolve, self.voting, is_up=self._is_up,
        )  # fmt: skip
        if self.voting:
            MasterService(daemons).install()

    def _is_up(self, daemons: MasterDaemons) -> None:
        changed, self.acting = daemons is not self.acting, daemons
        for tell in self.heralds if changed else ():
            tell()

    # Its parts

    @property
    def master(self) -> SimulatedNode:
        """The node that is the master, as far as anybody has seen."""
        return self.acting.node

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
        """One more simulated process; one that uses sockets is on the master."""
        return self._make_process(name, self.acting.sockets if hasattr(self, "acting") else Sockets())

    def _make_process(self, name: str, sockets: Sockets) -> Process:
        process = Process(name, self.time, sockets, about_to=self.about_to)
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
        keys = cluster_keys()[1]
        config = new_cluster(
            cluster_name=CLUSTER_NAME,
            master_ip=MASTER_IP,
            master_netdev="lo",
            master=FirstNode(
                name=self.master.name,
                primary_ip=self.master.address,
                secondary_ip=self.master.address,
                certificate_digest=keys.client_digest,
                server_digest=keys.server_digest,
            ),
            settings=params,
            entropy=self.entropy.random_bytes,
            now=BEGINNING,
        )
        (first,) = config.nodes.values()
        for node in self.members[1:]:
            keys = keys_of(node.name, node.address)
            added = add_node(self._like(first, node), keys.client_digest, keys.server_digest)
            config = added(config, BEGINNING)
        return config

    def _like(self, first: Node, node: SimulatedNode) -> Node:
        return msgspec.structs.replace(
            first, uuid=self.entropy.uuid(), name=node.name, primary_ip=node.address, secondary_ip=node.address
        )

    # Its life

    def run(self, work: Awaitable[T], limit: float = TIMEOUT) -> T:
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
        self.daemons[node.name].lose_power()
        node.lose_power(chance)

    # The master's daemons

    @property
    def wconfd(self) -> Wconfd:
        """The master's WConfD."""
        return self.acting.wconfd

    @property
    def luxid(self) -> Luxid:
        """The master's luxid."""
        return self.acting.luxid

    @property
    def zygote(self) -> InProcessZygote:
        """The master's zygote."""
        return self.acting.zygote

    @property
    def liveness(self) -> FakeLiveness:
        """The lives of the master's jobs."""
        return self.acting.liveness

    @property
    def config(self) -> ConfigData:
        """The configuration that is on the master's disk."""
        return self.acting.config

    def start_wconfd(self) -> None:
        """Start WConfD over the files that are there, and wait until it is up."""
        self.time.run_deferred(self.acting.start_wconfd_later(), TIMEOUT)

    def kill_wconfd(self) -> None:
        """End it at once."""
        self.acting.kill_wconfd()

    def start_luxid(self) -> None:
        """Start luxid over the files that are there, and wait until it is up."""
        self.time.run_deferred(self.acting.start_luxid_later(), TIMEOUT)

    def kill_luxid(self) -> None:
        """End it at once; running jobs go on."""
        self.acting.kill_luxid()

    # What can be seen

    def locks(self) -> Sequence[LockStatus]:
        """Every lock that is held or waited for."""
        return self.wconfd.locks.overview()

    def disks(self) -> dict[str, list[str]]:
        """The disks that exist, by node."""
        found = {name: sorted(node.own_disks()) for name, node in self.nodes.items()}
        return {
            name: disks
            for name, disks in {
                **found,
                "shared": sorted(
                    {
                        **self.shared.files,
                        **self.shared.gluster,
                        **self.shared.external.volumes,
                        **self.shared.ceph.images(),
                    }
                ),
            }.items()
            if disks
        }

    def running(self) -> dict[str, list[str]]:
        """The instances that run, by node."""
        found = {name: node.running() for name, node in self.nodes.items()}
        return {name: names for name, names in found.items() if names}


def unknown_host(name: str, family: AddressFamily) -> tuple[str, str]:
    """There is no other name service."""
    raise ResolverError(name, None, "Name or service not known")
