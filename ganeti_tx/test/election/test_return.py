"""A master comes back that was cut off while another one took over, and that was started without votes meanwhile."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.election.failover import MARGIN
from ganeti_tx.election.role import MasterRole
from ganeti_tx.errors import GanetiError
from ganeti_tx.mastership.this_node import NotMasterError
from ganeti_tx.model.config_data import encode
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.calls.master import NodeStartMasterDaemons
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.test.election.nodes import PATHS, ThreeNodes, epoch


class ReturnTests(SynchronousTestCase):
    """node1 was cut off while node2 took over, and counted on alone; it is started without votes, then it is back."""

    def setUp(self) -> None:
        """Both run; node1 has been booted often."""
        self.cluster = ThreeNodes()
        self.node1, self.node2, self.node3 = self.cluster.nodes.values()
        self.node1.files.mkdir(BOOT_ID.parent)
        self.send("node1")
        self.node1.reachable = False
        self.cluster.failover("node2")
        for boot in range(20):
            self.node1.put(BOOT_ID, f"{boot}\n".encode())
            self.cluster.finish(self.node1.start(NodeStartMasterDaemons(no_voting=True)))
        self.node1.have(replace(self.node1.config, serial_no=self.node1.config.serial_no + 10 * MARGIN))
        self.node1.reachable = True

    def send(self, name: str) -> list[str]:
        """What WConfD of a node sends to the others; why it is refused."""
        config, refused = self.cluster.nodes[name].config, []
        for node in config.nodes.values():
            for call in (
                UploadFile(path=str(PATHS.config_file), data=encode(config), serial=config.serial_no),
                WriteSsconfFiles(values=ssconf_values(config), serial=config.serial_no),
            ):
                if node.name != name:
                    try:
                        self.cluster.finish(self.cluster.master_rpc(name).call(node, call))
                    except NodeCallError as error:
                        refused.append(str(error))
        return refused

    def test_it_is_heard_first(self) -> None:
        """Nobody follows it, and its successor goes on; then it follows too."""
        self.assertEqual(len(self.send("node1")), 4)
        self.assertEqual(self.cluster.masters(), ["node1", "node2"])
        self.assertEqual(self.send("node2"), [])
        self.check()

    def test_it_hears_first(self) -> None:
        """It stops when its successor reaches it, whose configuration replaces its own."""
        self.assertEqual(self.send("node2"), [])
        self.check()

    def test_it_learns_by_itself(self) -> None:
        """When it is refused it asks the others, and steps down."""
        lost: list[GanetiError] = []
        role = MasterRole(
            self.node1.files,
            PATHS,
            "node1",
            self.cluster.clock,
            epoch(self.cluster.clock),
            lambda: self.cluster.rpc("node1"),
            lost.append,
        )
        role.refused("no")
        self.assertEqual([type(error) for error in lost], [NotMasterError])

    def check(self) -> None:
        """node2 is the master everywhere."""
        self.assertEqual(self.cluster.masters(), ["node2"])
        self.assertEqual([node.master for node in self.cluster.nodes.values()], ["node2"] * 3)
        self.assertEqual([node.config for node in self.cluster.nodes.values()], [self.node2.config] * 3)
        self.assertEqual(self.cluster.possible_masters(), ["node2"])
