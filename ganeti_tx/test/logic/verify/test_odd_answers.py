"""A node that answers anything at all is told of, and keeps nobody from judging the others."""

from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.disks.exclusive import check_alike
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.rpc.calls.check_answers import ANSWERS
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.test.logic.stage import GROUP
from ganeti_tx.test.logic.verify.test_group import MIRRORED, GroupCase

TEMPLATES = [DiskTemplate(word) for word in ("drbd", "plain", "file", "sharedfile", "ext", "rbd")]
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=4)
KEYS = st.sampled_from(("drbd", "plain", "kvm", "web1.example.com", "x"))
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
NO_ANSWERS: tuple[Any, ...] = (None, 5, [], "x")
#: What a judge would stumble over.
ODD: tuple[dict[str, Any], ...] = (
    {"disk-formats": [1]},
    {"version": "x"},
    {"version": [1]},
    {"time": "now"},
    {"hypervisor": 5},
    {"hvparams": [["x"]]},
    {"failed": 7},
    {"failed": {"x": 7}},
    {"volumes": {"a": 1}},
    {"volumes": {"plain": [[]]}},
    {"volumes": {"plain": 5}},
    {"mirrors": {"drbd": ["8.4"]}},
    {"storage-providers": [[]]},
    {"physical-volumes": [5]},
    {"node-net-test": 5},
    {"bridges": [[]]},
    {"ssh-reach": []},
)


class OddAnswersTests(GroupCase):
    """The second node of a cluster with disks of most kinds."""

    initial = replace(
        MIRRORED,
        cluster=replace(MIRRORED.cluster, enabled_disk_templates=TEMPLATES),
        nodegroups={GROUP.uuid: replace(GROUP, ndparams={"exclusive_storage": True})},
    )

    def setUp(self) -> None:
        super().setUp()
        self.well = self.nodes.answers[NodeVerify]

    def told(self, odd: Any) -> list[str]:
        """What is found; the first node is well."""
        self.nodes.answers[NodeVerify] = lambda node, call: odd if "node2" in node else self.well(node, call)
        return self.found()

    def test_usual(self) -> None:
        """Each is an error of that node, which names the check; nothing else is found than without it."""
        usual = [line for line in self.told({"time": 0.0}) if "node1" in line]
        for odd in ODD:
            found = self.told({"time": 0.0, **odd})
            name = next(iter(odd))
            (line,) = (each for each in found if "not understood" in each)
            start = "ERROR:ENODERPC:node:node2.example.com:unable to verify node: "
            self.assertTrue(line.startswith(f"{start}{name}: its answer is not understood: "), line)
            self.assertEqual([line for line in found if "node1" in line], usual)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    @given(st.dictionaries(st.sampled_from(sorted(ANSWERS)), JSON, min_size=1, max_size=8))
    def test_anything(self, odd: dict[str, Any]) -> None:
        """Any answer to any check is judged, and the group's job ends well."""
        self.told(odd)

    def test_line_ends(self) -> None:
        """Whatever a node says is told on one line, and nothing of it is lost."""
        said = "no\nKVM\r\nERROR: node node1: all is lost"
        for odd in (
            {"hypervisor": {"kvm": said}},
            {"failed": {"volumes": said}},
            {"node-setup": [said]},
            {"open-paths": [said]},
        ):
            found = self.told({"time": 0.0, **odd})
            self.assertEqual([line for line in found if len(line.splitlines()) != 1], [], odd)
            self.assertTrue(any("no\\nKVM\\nERROR: node node1: all is lost" in line for line in found), odd)

    def test_no_answers(self) -> None:
        """What is no table of answers at all is as good as none."""
        for odd in NO_ANSWERS:
            self.assertTrue(any(line.startswith("ERROR:ENODERPC:node:node2") for line in self.told(odd)))

    def test_volumes(self) -> None:
        """A node whose physical volumes nobody knows does not count as one that has those of the others."""
        parts: Any = SimpleNamespace(nodes=self.nodes)
        data = self.initial
        for odd in ({"physical-volumes": [5]}, {"failed": {"physical-volumes": "no vgs here"}}):
            self.nodes.answer(NodeVerify, odd)
            group = data.nodegroups[GROUP.uuid]
            checked = Deferred.fromCoroutine(check_alike(parts, data.cluster, group, data.nodes.values()))
            error = self.failureResultOf(checked, OpPrereqError).value
            self.assertIn("node node1.example.com does not tell its physical volumes", str(error))

    def test_states(self) -> None:
        """A node that tells of more or fewer disks than it was asked for tells of none."""
        for number in (0, 7):
            self.nodes.answer(BlockdevStates, [{}] * number)
            found = self.found()
            self.assertTrue(any("ENODERPC" in line and "disk information" in line for line in found), found)
