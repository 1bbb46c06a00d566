"""A simulated run repeats itself."""

from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.test.inprocess.case import ClusterCase, delay, scene_of
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.network import Trouble

LINES = (
    "gnt-instance add -t file -s 1G -o noop -n node2 web1",
    "gnt-instance add --submit -t sharedfile -s 1G -o noop -n node3 web2",
    "gnt-instance add -t diskless -o noop -n node1 web3",
    "gnt-node add node4",
    "gnt-instance reboot web1",
    "gnt-cluster add-tags web",
    "gnt-instance add -t file -s 1G -o missing -n node2 web4",
    "gnt-instance list -o name,status,nic.macs,uuid",
    "gnt-instance remove -f web1",
    "gnt-job list",
)


class DeterminismTests(ClusterCase):
    """The same seed gives the same calls at the same moments, the same output and the same files."""

    def history(self, seed: int) -> list[object]:
        """All that can be seen of a run."""
        cluster = self.new_cluster(seed)
        scene = scene_of(cluster)
        answers = [scene.run(line.split()) for line in LINES]
        client = DrivingClient(cluster)
        client.submit_many_jobs([[delay(1.5, on_nodes=["node2.example.com"])]] * 30)
        cluster.network.fault = lambda node, call: Trouble.REFUSED if node == "node3.example.com" else None
        cluster.pass_time(200)
        sent = [
            (each.at, each.caller, each.node, each.call.name, encode_call(each.call)) for each in cluster.network.sent
        ]
        files = [node.disk.contents() for node in cluster.nodes.values()]
        return [*answers, *sent, *files]

    def test_same_seed(self) -> None:
        """Two runs of one seed are the same in everything."""
        first, second = self.history(1), self.history(1)
        self.assertGreater(len(first), 200)
        for one, other in zip(first, second, strict=True):
            self.assertEqual(one, other)

    def test_other_seed(self) -> None:
        """Another seed gives other UUIDs and MAC addresses."""
        self.assertNotEqual(self.history(1)[7], self.history(2)[7])
