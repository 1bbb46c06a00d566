"""Taking the cluster's address and giving it up by a job."""

from ganeti_tx.model.opcodes import OpClusterActivateMasterIp, OpClusterDeactivateMasterIp
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.test.logic.stage import CLUSTER, CONFIG, UnitTestCase

MASTER = CONFIG.nodes[CLUSTER.master_node].name


class MasterIpTests(UnitTestCase):
    """ActivateMasterIp and DeactivateMasterIp."""

    def test_on_the_master(self) -> None:
        """The master, and no other node, is told what the cluster says of its address."""
        for op, kind in (
            (OpClusterActivateMasterIp(), NodeActivateMasterIp),
            (OpClusterDeactivateMasterIp(), NodeDeactivateMasterIp),
        ):
            self.nodes.sent.clear()
            self.run_op(op)
            ((node, call),) = self.nodes.sent
            assert isinstance(call, kind)
            self.assertEqual(node, MASTER)
            told = call.master_params
            self.assertEqual(
                (told.ip, told.netdev, told.netmask), (CLUSTER.master_ip, CLUSTER.master_netdev, CLUSTER.master_netmask)
            )
            self.assertEqual(told.ip_family, CLUSTER.primary_ip_family)
            self.assertEqual(call.use_external_mip_script, CLUSTER.use_external_mip_script)

    def test_failure(self) -> None:
        """The job fails with the node's own words."""
        self.nodes.fail(NodeActivateMasterIp, "Operation not permitted")
        self.assertIn("Operation not permitted", self.refused(OpClusterActivateMasterIp(), NodeCallError))
