"""The ground of tests about an instance whose disk is mirrored between the second and the third of some nodes."""

from ganeti_tx.test.fakes.mirror_node import MirrorNode
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

ADD = "gnt-instance add -t drbd -s 1G -o noop -H fake --no-name-check --no-ip-check --ignore-ipolicy -n node2:node3"
#: Devices that are ready on a node for one mirrored disk: itself and its two volumes.
THREE = 3


class MirroredCase(ClusterCase):
    """A cluster whose nodes have a driver for mirrors; `add` makes web1."""

    nodes_count = 3
    rate = 100.0

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, self.wire = mirrored_cluster(self.nodes_count, seed)
        self.wire.rate = self.rate
        self.addCleanup(cluster.end)
        return cluster

    def home(self, number: int) -> MirrorNode:
        """The storages of a node."""
        home = self.cluster.node(number).mirror_node
        assert home is not None
        return home

    @property
    def numbers(self) -> range:
        """Those of the nodes."""
        return range(1, self.nodes_count + 1)

    def ready(self) -> list[int]:
        """How many devices are ready on each node."""
        return [len(self.home(number).devices.behind) for number in self.numbers]

    def volumes(self) -> list[list[str]]:
        """Those of each node."""
        return [sorted(self.home(number).volumes.disks) for number in self.numbers]

    def mirrors(self) -> list[int]:
        """How many mirrors each node has."""
        volumes = [self.home(number).volumes.disks.values() for number in self.numbers]
        return [sum(each.notes is not None for each in there) for there in volumes]

    def configured_volumes(self) -> list[list[str]]:
        """The volumes that each node must have, by the configuration."""
        config = self.cluster.config
        return [
            sorted(
                "/".join(map(str, child.logical_id or ()))
                for disk in config.disks.values()
                for child in disk.children
                if self.cluster.node(number).name in [config.nodes[uuid].name for uuid in child.nodes]
            )
            for number in self.numbers
        ]

    def assert_agree(self, where: str = "") -> None:
        """Each node has the volumes that the configuration gives it, and no other one."""
        self.assertEqual(self.volumes(), self.configured_volumes(), where)

    def states(self) -> list[str]:
        """What is told of the mirror, a line for each node; its volumes, on the same ones, are told of without a number."""
        said = [line.strip() for line in self.ok("gnt-instance info web1").splitlines()]
        return [line for line in said if line.startswith(("on primary: /dev/drbd", "on secondary: /dev/drbd"))]
