"""Tests of starting instances."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes import OpInstanceStartup
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceInfo, InstanceStart, RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, RUNNING, UnitTestCase
from ganeti_tx.test.model.samples import NODE

OFFLINE = replace(CONFIG, nodes={**CONFIG.nodes, NODE.uuid: replace(NODE, offline=True, master_candidate=False)})


class StartupTests(UnitTestCase):
    """OP_INSTANCE_STARTUP."""

    def state(self) -> tuple[AdminState, bool]:
        """What the configuration wants of web1."""
        instance = self.stage.snapshot.instances[INSTANCE.uuid]
        return instance.admin_state, instance.disks_active

    def test_starts(self) -> None:
        """The node gets the filled instance, and the configuration says that it shall be up."""
        self.run_op(OpInstanceStartup(instance_name="web1"))
        (call,) = self.nodes.of_kind(InstanceStart)
        self.assertEqual(self.nodes.sent[-1][0], "node1.example.com")
        self.assertEqual(call.instance.hvparams["acpi"], False)  # the cluster's own value
        self.assertEqual(call.instance.beparams["maxmem"], 128)  # the built-in value
        self.assertEqual(call.instance.disks[0].logical_id[0], "loop")
        self.assertEqual(call.instance.nics[0].link, "xen-br0")
        self.assertEqual(self.state(), (AdminState.UP, True))

    def test_locks(self) -> None:
        """The instance alone, its node with others, allocators kept waiting."""
        self.run_op(OpInstanceStartup(instance_name="web1"))
        self.assertEqual(
            self.stage.locked,
            {
                "cluster/BGL": "shared",
                "instance/web1.example.com": "exclusive",
                "node-alloc/NAL": "shared",
                "node/node1-uuid": "shared",
            },
        )

    def test_failure_is_taken_back(self) -> None:
        """What did not start is not said to be up."""
        self.nodes.fail(InstanceStart, "no such kernel")
        self.assertIn("no such kernel", self.refused(OpInstanceStartup(instance_name="web1"), OpExecError))
        self.assertEqual(self.state(), (AdminState.DOWN, False))

    def test_not_remembered(self) -> None:
        """With no_remember the configuration stays."""
        self.run_op(OpInstanceStartup(instance_name="web1", no_remember=True))
        self.assertEqual(self.stage.snapshot.instances[INSTANCE.uuid], INSTANCE)
        self.assertEqual(self.nodes.kinds()[-1], "instance_start")

    def test_parameters_for_this_run(self) -> None:
        """Extra parameters are checked by the node and reach it, but are not kept."""
        self.run_op(
            OpInstanceStartup(
                instance_name="web1",
                hvparams={"kernel_args": "single"},
                beparams={"memory": "256"},
                startup_paused=True,
            )
        )
        (start,), (check,) = self.nodes.of_kind(InstanceStart), self.nodes.of_kind(HypervisorValidateParams)
        self.assertEqual(start.instance.hvparams["kernel_args"], "single")
        self.assertEqual(check.hvparams["kernel_args"], "single")
        self.assertEqual(start.instance.beparams["minmem"], 256)
        self.assertTrue(start.startup_paused)
        self.assertEqual(self.stage.snapshot.instances[INSTANCE.uuid].hvparams, {})

    def test_unknown_parameter(self) -> None:
        """A parameter that is not there is refused by name."""
        self.assertIn(
            "colour", self.refused(OpInstanceStartup(instance_name="web1", hvparams={"colour": 1}), OpPrereqError)
        )

    def test_too_little_memory(self) -> None:
        """A node without room is not asked to start it; both numbers are told."""
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[], hypervisors={"kvm": {"memory_free": 100}}))
        text = self.refused(OpInstanceStartup(instance_name="web1"), OpPrereqError)
        self.assertIn("needed 128 MiB, available 100 MiB", text)
        self.assertEqual(self.nodes.of_kind(InstanceStart), [])

    def test_one_that_runs(self) -> None:
        """The memory of an instance that runs already is not counted again."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.run_op(OpInstanceStartup(instance_name="web1"))
        self.assertEqual(self.nodes.of_kind(NodeInfo), [])

    def test_shut_down_from_inside(self) -> None:
        """What is left of an instance that its user shut down is cleared away before it starts."""
        self.nodes.answer(InstanceInfo, RunningInstance(memory=128, vcpus=1, state=1, time=1.0))
        self.run_op(OpInstanceStartup(instance_name="web1"))
        self.assertEqual(self.nodes.kinds()[-2:], ["instance_shutdown", "instance_start"])

    def test_halted(self) -> None:
        """One that its hypervisor has stopped after an error is cut off first; the memory that it has is not counted again."""
        self.nodes.answer(InstanceInfo, RunningInstance(memory=128, vcpus=1, state=2, time=1.0, why="io-error"))
        self.run_op(OpInstanceStartup(instance_name="web1"))
        self.assertEqual(self.nodes.kinds()[-2:], ["instance_shutdown", "instance_start"])
        self.assertEqual(self.nodes.of_kind(NodeInfo), [])

    def test_unknown_instance(self) -> None:
        """The name that was typed is in the error."""
        self.assertIn("ghost", self.refused(OpInstanceStartup(instance_name="ghost"), OpPrereqError))

    def test_marked_offline(self) -> None:
        """An instance that is marked offline does not start."""
        marked = replace(INSTANCE, admin_state=AdminState.OFFLINE)
        self.stage = self.make_stage(replace(CONFIG, instances={marked.uuid: marked}))
        self.assertIn("marked to be offline", self.refused(OpInstanceStartup(instance_name="web1"), OpPrereqError))


class OfflineNodeTests(UnitTestCase):
    """Starting where the node is offline."""

    initial = replace(
        OFFLINE,
        cluster=replace(OFFLINE.cluster, master_node="node2-uuid", candidate_pool_size=1),
    )

    def test_refused(self) -> None:
        """An offline node cannot start anything."""
        self.assertIn("node1.example.com", self.refused(OpInstanceStartup(instance_name="web1"), OpPrereqError))

    def test_marked_only(self) -> None:
        """With ignore_offline_nodes it is said to be up, and nothing is sent."""
        self.run_op(OpInstanceStartup(instance_name="web1", ignore_offline_nodes=True))
        self.assertIs(self.stage.snapshot.instances[INSTANCE.uuid].admin_state, AdminState.UP)
        self.assertEqual(self.nodes.sent, [])
