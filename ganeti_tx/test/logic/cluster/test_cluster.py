"""Tests of the units about the cluster."""

from msgspec.structs import replace

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.opcodes import (
    OpClusterDestroy,
    OpClusterRedistConf,
    OpClusterVerify,
    OpClusterVerifyConfig,
    OpClusterVerifyGroup,
)
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeHasIpAddress, NodeSshKeys, SshKeys
from ganeti_tx.test.logic.stage import CONFIG, GROUP, UnitTestCase
from ganeti_tx.test.model.samples import NODE


class DestroyTests(UnitTestCase):
    """OP_CLUSTER_DESTROY."""

    def test_not_empty(self) -> None:
        """Nodes and instances that are left are named."""
        text = self.refused(OpClusterDestroy(), OpPrereqError)
        self.assertIn("node2.example.com", text)
        self.assertIn("web1.example.com", text)

    def test_empty(self) -> None:
        """With the master alone the answer is its uuid."""
        alone = replace(
            CONFIG,
            nodes={NODE.uuid: NODE},
            instances={},
            disks={},
            nodegroups={GROUP.uuid: replace(GROUP, members=(NODE.uuid,))},
            cluster=replace(CONFIG.cluster, candidate_pool_size=1),
        )
        self.stage = self.make_stage(alone)
        self.assertEqual(self.run_op(OpClusterDestroy()), NODE.uuid)
        self.assertEqual(self.stage.locked, {"cluster/BGL": "exclusive"})


class CertificateTests(UnitTestCase):
    """A configuration from a time before it knew by which certificates nodes are known."""

    def test_redistribution_learns(self) -> None:
        """OP_CLUSTER_REDIST_CONF asks each node that lacks one, and OP_CLUSTER_VERIFY_CONFIG tells how many do."""
        self.run_op(OpClusterVerifyConfig())
        self.assertIn("2 node(s) are known only by the authority's signature", "\n".join(self.stage.feedback))
        self.stage.nodes.answers[NodeCryptoTokens] = lambda node, call: [("ssl", "x"), ("server", f"of-{node}")]
        self.stage.nodes.answers[NodeSshKeys] = lambda node, call: SshKeys(host=["ssh-rsa AAAA"], root="ssh-rsa BBBB")
        self.run_op(OpClusterRedistConf())
        known = self.stage.snapshot.cluster.candidate_certs
        self.assertEqual(
            {known[f"server:{uuid}"] for uuid in self.stage.snapshot.nodes},
            {f"of-{node.name}" for node in self.stage.snapshot.nodes.values()},
        )
        self.assertEqual({known[f"ssh-host:{uuid}"] for uuid in self.stage.snapshot.nodes}, {"ssh-rsa AAAA"})
        self.assertEqual({known[f"ssh-root:{uuid}"] for uuid in self.stage.snapshot.nodes}, {"ssh-rsa BBBB"})
        self.stage.feedback.clear()
        self.run_op(OpClusterVerifyConfig())
        self.assertNotIn("known only by", "\n".join(self.stage.feedback))


class VerifyTests(UnitTestCase):
    """OP_CLUSTER_VERIFY and OP_CLUSTER_VERIFY_CONFIG."""

    def test_all_is_well(self) -> None:
        """True, and no finding is told."""
        self.assertIs(self.run_op(OpClusterVerifyConfig()), True)
        self.assertEqual([line for line in self.stage.feedback if "ERROR" in line], [])

    def test_finding(self) -> None:
        """Each fault is a line in the form asked for; one that is ignored is a warning and does not count."""
        self.spoil()
        self.assertIs(self.run_op(OpClusterVerifyConfig()), False)
        self.assertIn("  - ERROR: cluster", "\n".join(self.stage.feedback))
        self.run_op(OpClusterVerifyConfig(error_codes=True))
        self.assertIn("  - ERROR:ECLUSTERCFG:cluster:", "\n".join(self.stage.feedback))
        ignored = OpClusterVerifyConfig(ignore_errors=frozenset({VerifyCode.ECLUSTERCFG}))
        self.assertIs(self.run_op(ignored), True)
        self.assertIn("  - WARNING: cluster", "\n".join(self.stage.feedback))

    def test_address(self) -> None:
        """A master without the cluster's address is warned of; nobody but the programs from outside misses it."""
        self.nodes.answer(NodeHasIpAddress, False)
        self.assertIs(self.run_op(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True)), True)
        (line,) = (each for each in self.stage.feedback if "WARNING" in each)
        self.assertIn("WARNING:ENODENET:node:node1.example.com:the master node cannot reach the master IP", line)
        self.assertIn("it does not have the cluster's address", line)
        self.assertIn("activate-master-ip", line)
        self.nodes.fail(NodeHasIpAddress, "no answer")
        self.stage.feedback.clear()
        self.run_op(OpClusterVerifyGroup(group_name=GROUP.name))
        self.assertEqual([each for each in self.stage.feedback if "WARNING" in each], [])

    def test_queue(self) -> None:
        """What is at fault in the job queue's directory is told, and counts unless it is ignored."""
        self.stage.queue_faults.append("job-3 is odd")
        self.assertIs(self.run_op(OpClusterVerifyConfig(error_codes=True)), False)
        self.assertIn("  - ERROR:ECLUSTERFILECHECK:cluster:None:job-3 is odd", self.stage.feedback)
        ignored = OpClusterVerifyConfig(ignore_errors=frozenset({VerifyCode.ECLUSTERFILECHECK}))
        self.assertIs(self.run_op(ignored), True)

    def spoil(self) -> None:
        """Put a configuration in which two nodes have one address."""
        node = replace(CONFIG.nodes["node2-uuid"], primary_ip=NODE.primary_ip)
        self.stage.config.session.store._on_disk = replace(CONFIG, nodes={**CONFIG.nodes, node.uuid: node})

    def test_jobs(self) -> None:
        """Verification is a job for the configuration and one for each group, to which the options go."""
        result = self.run_op(OpClusterVerify(error_codes=True))
        self.assertEqual(result, {"jobs": [(True, 100), (True, 101)]})
        of_group = OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True)
        self.assertEqual(self.stage.submitted[-1], [[OpClusterVerifyConfig(error_codes=True)], [of_group]])
        self.run_op(OpClusterVerify(error_codes=True, group_name=GROUP.name))
        self.assertEqual(self.stage.submitted[-1], [[of_group]])
