"""What is said of nodes and instances, as their answers and the configuration have it."""

from functools import partial
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.verify.config import of_certificate
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.exclusive_storage import PHYSICAL_VOLUMES
from ganeti_tx.model.opcodes import OpClusterVerifyDisks, OpClusterVerifyGroup, OpGroupVerifyDisks
from ganeti_tx.model.opcodes.types import OptionalCheck
from ganeti_tx.model.storage_unit import VOLUME_GROUP
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, RunningInstance
from ganeti_tx.rpc.calls.mirror import DrbdNeedsActivation
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, NodeVerify
from ganeti_tx.test.logic.stage import CONFIG, GROUP, INSTANCE, RUNNING, UnitTestCase
from ganeti_tx.test.model.samples import DISK

UP = replace(CONFIG, instances={INSTANCE.uuid: replace(INSTANCE, admin_state=AdminState.UP, disks_active=True)})
#: The same with mirrors.
MIRRORED = replace(
    CONFIG,
    instances={INSTANCE.uuid: replace(INSTANCE, disks_active=True, network_port=11001)},
    disks={DISK.uuid: DISK},
    cluster=replace(CONFIG.cluster, volume_group_name="xenvg"),
)
LITTLE = NodeFacts(boot_id="", storage=[], hypervisors={"kvm": {"memory_free": 1}})


class GroupCase(UnitTestCase):
    """A stage with an instance."""

    def found(self, **options: Any) -> list[str]:
        """The findings but those about sizes; whether all is well is told by the result."""
        self.stage.feedback.clear()
        passed = self.run_op(OpClusterVerifyGroup(group_name=GROUP.name, error_codes=True, **options))
        lines = [line for line in self.stage.feedback if "EINSTANCEPOLICY" not in line]
        self.assertIs(passed, not any("- ERROR:" in line for line in lines))
        return [line.partition("- ")[2] for line in lines if "- ERROR:" in line or "- WARNING:" in line]


#: The second node can have no instances; each physical volume is one disk's alone.
ONE_HOST = replace(
    CONFIG,
    cluster=replace(CONFIG.cluster, volume_group_name="xenvg"),
    nodegroups={GROUP.uuid: replace(GROUP, ndparams={"exclusive_storage": True})},
    nodes={name: replace(node, vm_capable=name == "node1-uuid") for name, node in CONFIG.nodes.items()},
)


class NoHostTests(GroupCase):
    """A node that can have no instances, as a master may be."""

    initial = ONE_HOST

    def test_asked(self) -> None:
        """It is asked nothing of disks and hypervisors, whose programs it may lack."""
        asked: dict[str, NodeVerify] = {}

        def answer(node: str, call: NodeVerify) -> dict[str, object]:
            asked[node.partition(".")[0]] = call
            return {}

        self.nodes.answers[NodeVerify] = answer
        self.found()
        for_hosts = asked["node1"].checks.keys() - asked["node2"].checks.keys()
        self.assertLessEqual({"hypervisor", PHYSICAL_VOLUMES, VOLUME_GROUP, "volumes"}, for_hosts)
        self.assertIn("time", asked["node2"].checks)


def on_first_node(running: dict[str, RunningInstance], node: str, call: AllInstancesInfo) -> dict[str, RunningInstance]:
    """What runs there, and nothing elsewhere."""
    return running if "node1" in node else {}


class StateTests(GroupCase):
    """An instance that should run."""

    initial = UP

    def test_running(self) -> None:
        """One that runs is well, also one that its user has stopped; one that is not there is not."""
        self.assertEqual([line.split(":")[1] for line in self.found()], ["EINSTANCEDOWN"])
        for state in (0, 1):
            running = {INSTANCE.name: replace(RUNNING, state=state)}
            self.nodes.answers[AllInstancesInfo] = partial(on_first_node, running)
            self.assertEqual(self.found(), [])

    def test_halted(self) -> None:
        """One that its hypervisor has stopped after an error is told of, with the error."""
        running = {INSTANCE.name: replace(RUNNING, state=2, why="io-error")}
        self.nodes.answers[AllInstancesInfo] = partial(on_first_node, running)
        (line,) = self.found()
        self.assertIn("EINSTANCEDOWN", line)
        self.assertIn("halted by its hypervisor on node node1.example.com: io-error", line)

    def test_not_reached(self) -> None:
        """One that runs and is not reached, as its hypervisor knows, is told of, with the reason."""
        running = {INSTANCE.name: replace(RUNNING, why="its interfaces are not connected")}
        self.nodes.answers[AllInstancesInfo] = partial(on_first_node, running)
        (line,) = self.found()
        self.assertIn("EINSTANCEDOWN", line)
        self.assertIn("instance runs on node node1.example.com, but its interfaces are not connected", line)

    def test_silent_hypervisor(self) -> None:
        """A node that cannot list its instances is told of."""
        self.nodes.fail(AllInstancesInfo, "no socket")
        codes = {line.split(":")[1] for line in self.found()}
        self.assertEqual(codes, {"ENODEHV", "EINSTANCEDOWN"})

    def test_odd_answers(self) -> None:
        """Checks that a node could not make are told with its reason, and so is one that tells no time."""
        answer = {"version": [NODE_PROTOCOL_VERSION, "9.9"], "failed": {"hypervisor": "broken"}}
        self.nodes.answers[NodeVerify] = lambda node, call: answer if "node2" in node else {"time": 0.0}
        found = [line for line in self.found() if "node2" in line]
        self.assertEqual(
            [line.split(":", 4)[:2] for line in found],
            [["ERROR", "ENODERPC"], ["WARNING", "ENODEVERSION"], ["ERROR", "ENODETIME"]],
        )
        self.assertIn("unable to verify node: hypervisor: broken", found[0])


class MirroredGroupTests(GroupCase):
    """An instance that is mirrored."""

    initial = MIRRORED

    def test_memory(self) -> None:
        """The secondary must have room, unless the instance is not to be moved, is offline, or nobody asked."""
        self.nodes.answer(NodeInfo, LITTLE)
        (line,) = self.found()
        self.assertTrue(line.startswith("ERROR:ENODEN1:node:node2.example.com:not enough memory"), line)
        self.assertEqual(self.found(skip_checks=frozenset({OptionalCheck.NPLUSONE_MEM})), [])
        (instance,) = MIRRORED.instances.values()
        for other in (
            replace(instance, beparams={**instance.beparams, "auto_balance": False}),
            replace(instance, admin_state=AdminState.OFFLINE),
        ):
            self.stage.config.session.store._on_disk = replace(MIRRORED, instances={other.uuid: other})
            self.assertEqual(self.found(), [])

    def test_disks_of_group(self) -> None:
        """A mirror that a node says is not ready is to be activated; who does not answer is told."""
        self.nodes.answer(DrbdNeedsActivation, [])
        self.assertEqual(self.run_op(OpGroupVerifyDisks(group_name=GROUP.name)), ({}, [], {}))
        self.nodes.answers[DrbdNeedsActivation] = lambda node, call: [disk.uuid for disk in call.disks]
        self.assertEqual(self.run_op(OpGroupVerifyDisks(group_name=GROUP.name)), ({}, [INSTANCE.name], {}))
        self.nodes.fail(BlockdevStates, "no disks today")
        faults, broken, missing = self.run_op(OpGroupVerifyDisks(group_name=GROUP.name))
        self.assertEqual((sorted(faults), broken, missing), (["node1.example.com", "node2.example.com"], [], {}))

    def test_down(self) -> None:
        """The disks of an instance that is down are nobody's concern."""
        (instance,) = MIRRORED.instances.values()
        down = replace(instance, disks_active=False)
        self.stage.config.session.store._on_disk = replace(MIRRORED, instances={down.uuid: down})
        self.nodes.fail(DrbdNeedsActivation, "not asked")
        self.assertEqual(self.run_op(OpGroupVerifyDisks(group_name=GROUP.name)), ({}, [], {}))
        self.assertEqual(self.nodes.of_kind(DrbdNeedsActivation), [])


class MistakeTests(GroupCase):
    """What is refused, and what is locked."""

    def test_unknown_group(self) -> None:
        """One class, one code, and nothing is submitted."""
        for op in (
            OpClusterVerifyGroup(group_name="rack9"),
            OpGroupVerifyDisks(group_name="rack9"),
            OpClusterVerifyDisks(group_name="rack9"),
        ):
            error = self.failureResultOf(self.stage.run(op), OpPrereqError).value
            self.assertEqual(error.args, ("Node group 'rack9' not found", "unknown_entity"))
        self.assertEqual(self.stage.submitted, [])

    def test_locks(self) -> None:
        """Shared ones, of the group and what is in it."""
        self.found()
        held = self.stage.locked
        self.assertEqual(set(held.values()), {"shared"})
        for name in (f"instance/{INSTANCE.name}", f"nodegroup/{GROUP.uuid}", "node/node1-uuid", "node/node2-uuid"):
            self.assertIn(name, held)

    def test_certificates(self) -> None:
        """Days decide: soon is a warning, very soon an error."""
        expected = ((31.0, False, True), (29.0, True, True), (7.0, True, True), (6.9, True, False), (-2.0, True, False))
        for days, wrong, warning in expected:
            verdict = of_certificate("/x.pem", days, "")
            self.assertEqual((verdict.wrong, verdict.is_warning), (wrong, warning), days)
        self.assertIn("expired 2 days ago", of_certificate("/x.pem", -2.0, "").text)
