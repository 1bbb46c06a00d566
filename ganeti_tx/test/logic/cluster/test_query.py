"""Tests of telling about the cluster by a job."""

import json

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.opcodes import OpClusterConfigQuery, OpClusterQuery
from ganeti_tx.test.logic.stage import UnitTestCase


class QueryTests(UnitTestCase):
    """OP_CLUSTER_QUERY and OP_CLUSTER_CONFIG_QUERY."""

    def test_all(self) -> None:
        """Settings with filled parameters, as plain JSON; the master by its name."""
        told = json.loads(json.dumps(self.run_op(OpClusterQuery())))
        self.assertEqual((told["name"], told["master"]), ("cluster.example.com", "node1.example.com"))
        self.assertEqual(told["hvparams"]["kvm"]["acpi"], False)
        self.assertEqual(told["beparams"]["default"]["maxmem"], 128)
        self.assertEqual(told["primary_ip_version"], 4)

    def test_fields(self) -> None:
        """Values come in the order asked for; an unknown field is refused with those that are known."""
        asked = OpClusterConfigQuery(output_fields=("master_node", "cluster_name"))
        self.assertEqual(self.run_op(asked), ["node1.example.com", "cluster.example.com"])
        text = self.refused(OpClusterConfigQuery(output_fields=("colour",)), OpPrereqError)
        self.assertIn("colour", text)
        self.assertIn("cluster_name", text)
