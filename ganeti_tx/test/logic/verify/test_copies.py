"""Tests of what cluster verification tells of roles and of copies on the nodes."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.logic.verify.copies import BETWEEN_LOOKS, FURTHER_LOOKS
from ganeti_tx.model.opcodes import OpClusterVerifyConfig, OpClusterVerifyGroup
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.node.test_set_params import SetParamsCase, cluster_of, member
from ganeti_tx.test.logic.stage import GROUP

GOOD = CopiesState(config=7, queue=5, ssconf="digest", master="node1.example.com")
REGULAR = replace(GOOD, config=None, queue=None)


class VerifyCopiesTests(SetParamsCase):
    """The master, a candidate, a regular node and one that is offline."""

    initial = cluster_of(member(3), member(4, offline=True))

    def setUp(self) -> None:
        super().setUp()
        self.states: dict[str, Any] = {"node1": GOOD, "node2": GOOD, "node3": REGULAR}
        self.nodes.answers[ClusterCopies] = self._answer

    def _answer(self, node: str, call: object) -> CopiesState:
        state = self.states[node.partition(".")[0]]
        if state is None:
            raise NodeUnreachableError(f"cannot reach {node}")
        assert isinstance(state, CopiesState)
        return state

    def errors(self, passed: bool = False, **options: Any) -> list[str]:
        """The findings, without what leads up to them."""
        self.stage.feedback.clear()
        verifying = self.stage.run(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True, **options))
        self.stage.clock.pump([BETWEEN_LOOKS] * FURTHER_LOOKS)
        self.assertIs(self.successResultOf(verifying), passed)
        return [line for line in self.stage.feedback if "ERROR" in line or "WARNING" in line]

    def test_well(self) -> None:
        """Nothing is told but that a node is offline, and that one is sent nothing."""
        self.assertEqual(self.errors(True), [])
        self.assertIn("  - NOTICE: 1 offline node(s) found.", self.stage.feedback)
        self.assertNotIn("node4.example.com", [name for name, _ in self.nodes.sent])

    def test_older_node(self) -> None:
        """Of a node that does not tell of its files yet, none is said to be missing."""
        self.states["node1"] = replace(GOOD, files={"/var/lib/ganeti/hmac.key": "digest"})
        self.assertEqual(self.errors(True), [])

    def test_newer_is_no_fault(self) -> None:
        """What changed since the master was asked is no fault of a node."""
        self.states["node2"] = replace(GOOD, config=8, queue=6)
        self.assertEqual(self.errors(True), [])

    def test_findings(self) -> None:
        """Each way in which a node differs is a line that says what to do."""
        for number, state, reason in (
            (2, replace(GOOD, config=6), "has a configuration with serial number 6, the master 7; 'gnt-cluster redist"),
            (2, replace(GOOD, config=None), "has no configuration"),
            (2, replace(GOOD, queue=4), "has a job queue up to job 4, the master up to 5"),
            (2, replace(GOOD, ssconf="old"), "its simple configuration differs"),
            (3, replace(REGULAR, master="node2.example.com"), "takes node2.example.com for the master"),
            (3, GOOD, "keeps a configuration although it is no master candidate"),
        ):
            self.states = {"node1": GOOD, "node2": GOOD, "node3": REGULAR, f"node{number}": state}
            (line,) = self.errors()
            self.assertTrue(line.startswith(f"  - ERROR:ENODEFILECHECK:node:node{number}.example.com:"), line)
            self.assertIn(reason, line)

    def test_files(self) -> None:
        """A key that a node lacks is a fault of the cluster; what is on its way is none."""
        has, lacks = replace(GOOD, files={"/var/lib/ganeti/hmac.key": "x"}), replace(GOOD, files={})
        self.states = {"node1": has, "node2": has, "node3": replace(lacks, config=None, queue=None)}
        (line,) = self.errors()
        self.assertTrue(line.startswith("  - ERROR:ECLUSTERFILECHECK:cluster:"), line)
        self.assertIn("File /var/lib/ganeti/hmac.key is missing from node(s) node3.example.com", line)
        self.errors(True, ignore_errors=frozenset({VerifyCode.ECLUSTERFILECHECK}))
        verifying = self.stage.run(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True))
        self.assertNoResult(verifying)
        self.states["node3"] = replace(has, config=None, queue=None)
        self.stage.clock.advance(BETWEEN_LOOKS)
        self.assertIs(self.successResultOf(verifying), True)

    def test_on_its_way(self) -> None:
        """What a node gets within seconds, as it has just come back, is no fault; it is looked at again."""
        self.states["node2"] = replace(GOOD, config=6, queue=None, ssconf="old")
        verifying = self.stage.run(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True))
        self.stage.clock.pump([BETWEEN_LOOKS] * (FURTHER_LOOKS - 2))
        self.assertNoResult(verifying)
        self.states["node2"] = GOOD
        self.stage.clock.advance(BETWEEN_LOOKS)
        self.assertIs(self.successResultOf(verifying), True)

    def test_silent(self) -> None:
        """A node that does not answer is told of; it does not count when the operator says so."""
        self.states["node3"] = None
        (line,) = self.errors()
        self.assertIn("ERROR:ENODEFILECHECK:node:node3.example.com:Node did not return file checksum data", line)
        (line,) = self.errors(True, ignore_errors=frozenset({VerifyCode.ENODEFILECHECK}))
        self.assertIn("WARNING", line)

    def test_few_candidates(self) -> None:
        """A pool that is not full though it could be is a fault of the cluster."""
        self.stage.config.session.store._on_disk = cluster_of(member(3), pool=3)
        self.assertIs(self.run_op(OpClusterVerifyConfig(error_codes=True)), False)
        (line,) = (line for line in self.stage.feedback if "ERROR" in line)
        self.assertIn("ERROR:ECLUSTERCFG:cluster:None:", line)
        self.assertIn("has 2 master candidates of 3 wanted", line)
