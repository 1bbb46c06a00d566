"""Every unit's plan and what it does are held together: the stage refuses each action that no step of the plan tells of."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.plan import PlannedStep, described
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.migration import MigrationProgress, MigrationState
from ganeti_tx.model.node_files import ALIKE
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.backup import (
    DumpImportStart,
    ExportBegin,
    ExportList,
    ExportRemove,
    FinalizeExport,
    ScriptExportStart,
)
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose
from ganeti_tx.rpc.calls.instance import InstanceConsole, InstanceInfo, InstanceOsAdd, InstanceStart
from ganeti_tx.rpc.calls.migration import (
    AcceptInstance,
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceGetMigrationStatus,
    InstanceMigrate,
    MigrationInfo,
)
from ganeti_tx.rpc.calls.mirror import BlockdevClose, BlockdevOpen
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeSshKeys, SshKeys, Version
from ganeti_tx.rpc.calls.os import OsDiagnose
from ganeti_tx.rpc.calls.storage import NodeVolumes, StorageExecute, StorageList, StorageModify
from ganeti_tx.rpc.calls.transfer import ExportStart, ImpexpCleanup, ImpexpStatus, ImportStart, TransferProgress
from ganeti_tx.rpc.calls.transfer_keys import X509CertCreate, X509CertRemove
from ganeti_tx.test.logic.evacuations import SPREAD, moved, say
from ganeti_tx.test.logic.plan_requests import (
    ALONE,
    ANYWHERE,
    CREATE,
    MIRRORED,
    STORAGE_OPS,
    TAKEN,
    UP,
    WEB1,
    WITH_NETWORK,
    WITH_POWER,
    WITH_VOLUMES,
)
from ganeti_tx.test.logic.plan_watch import NotPlanned, PlannedConfig, PlannedNodes
from ganeti_tx.test.logic.stage import CONFIG, GROUP, RUNNING, TWO_GROUPS, Stage, UnitTestCase
from ganeti_tx.test.model.samples import NETWORK, NODE2


class PlanTests(UnitTestCase):
    """All units."""

    def stage_for(self, op: OpCode) -> Stage:
        """A stage on which the request succeeds."""
        stage = self.make_stage(self.config_for(op))
        stage.nodes.answer(Version, NODE_PROTOCOL_VERSION)
        stage.nodes.answer(NodeCryptoTokens, [("ssl", "digest"), ("server", "digest")])
        stage.nodes.answer(NodeSshKeys, SshKeys(host=[]))
        stage.nodes.answer(OsDiagnose, [])
        stage.nodes.answer(ExtstorageDiagnose, [])
        if isinstance(op, ops.OpClusterRepairDiskSizes):
            stage.nodes.answer(BlockdevStates, [DiskState(BlockDevStatus(dev_path="/dev/disk", size=1028))])
        if isinstance(op, ops.OpClusterRenewCrypto):
            files = {file.path: "digest" for file in ALIKE}
            stage.nodes.answer(ClusterCopies, CopiesState(config=1, queue=1, ssconf="d", master="node1", files=files))
        if isinstance(op, ops.OpInstanceRecreateDisks):
            stage.nodes.answer(BlockdevStates, [DiskState()])
        if isinstance(op, ops.OpInstanceChangeGroup):
            say(stage.nodes, moved("rack2"))
        if isinstance(op, ops.OpInstanceMigrate):
            stage.nodes.answers[InstanceInfo] = lambda node, call: RUNNING if node.startswith("node1") else None
            stage.nodes.answer(MigrationInfo, {})
            stage.nodes.answer(InstanceGetMigrationStatus, MigrationProgress(MigrationState.COMPLETED))
            stage.nodes.answer(X509CertCreate, "a certificate")
            stage.nodes.succeed(X509CertRemove, AcceptInstance, InstanceMigrate, BlockdevOpen, BlockdevClose)
            stage.nodes.succeed(InstanceFinalizeMigrationSrc, InstanceFinalizeMigrationDst)
        stage.nodes.answer(StorageList, [])
        stage.nodes.answer(ExportList, [WEB1])
        stage.nodes.succeed(ExportRemove)
        stage.nodes.answer(NodeVolumes, [])
        stage.nodes.succeed(StorageModify, StorageExecute)
        if isinstance(op, ops.OpInstanceMove | ops.OpBackupExport):
            ended = TransferProgress(port=40000, connected=True, ended=True)
            stage.nodes.succeed(ImportStart, ExportStart, ImpexpCleanup, ScriptExportStart, DumpImportStart)
            stage.nodes.succeed(ExportBegin, FinalizeExport)
            stage.nodes.answers[ImpexpStatus] = lambda node, call: [ended] * len(call.transfers)
        if isinstance(op, ops.OpInstanceConsole):
            stage.nodes.answer(InstanceInfo, RUNNING)
            stage.nodes.answer(InstanceConsole, {"kind": "msg", "message": "none"})
        return stage

    def config_for(self, op: OpCode) -> ConfigData:
        """The configuration before it."""
        if isinstance(op, ops.OpClusterDestroy):
            return ALONE
        if isinstance(op, ops.OpOobCommand):
            return WITH_POWER
        if isinstance(op, ops.OpGroupAssignNodes | ops.OpGroupEvacuate | ops.OpGroupRemove):
            return TWO_GROUPS
        if isinstance(op, ops.OpNetworkDisconnect):
            return replace(WITH_NETWORK, nodegroups={GROUP.uuid: replace(GROUP, networks={NETWORK.uuid: {}})})
        if isinstance(op, ops.OpNetworkConnect | ops.OpNetworkRemove | ops.OpNetworkRename | ops.OpNetworkSetParams):
            return WITH_NETWORK
        if isinstance(op, STORAGE_OPS):
            return WITH_VOLUMES
        if isinstance(op, ops.OpInstanceFailover | ops.OpInstanceMigrate):
            return ANYWHERE
        if isinstance(op, ops.OpInstanceChangeGroup):
            return SPREAD
        if isinstance(op, ops.OpInstanceReplaceDisks):
            return MIRRORED
        return UP if isinstance(op, ops.OpInstanceConsole) else CONFIG

    def test_every_unit(self) -> None:
        """Each takes the steps of its plan in their order; what it does not take it tells as skipped."""
        for op, titles in TAKEN:
            stage = self.stage_for(op)
            self.successResultOf(stage.run(op))
            where = f"{op.op_id()}: {stage.steps}"
            self.assertEqual([each["title"] for each in stage.steps if each["state"] == "begun"], titles, where)
            numbers = [each["step"] for each in stage.steps]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), where)
            self.assertTrue(all(each["of"] == len(numbers) for each in stage.steps), where)

    def test_none_is_left_out(self) -> None:
        """A new unit needs a line in the table."""
        self.assertEqual({type(op) for op, _ in TAKEN}, set(UNITS))

    def test_running(self) -> None:
        """What runs is stopped, or restarted by its node, in steps, too."""
        for kind, titles in (
            (RebootType.SOFT, ["restart the instance", "mark the instance as up"]),
            (
                RebootType.FULL,
                ["stop the instance", "shut down its disks", "start the instance", "mark the instance as up"],
            ),
        ):
            stage = self.make_stage(UP)
            stage.nodes.answer(InstanceInfo, RUNNING)
            self.successResultOf(stage.run(ops.OpInstanceReboot(instance_name=WEB1, reboot_type=kind)))
            self.assertEqual([each["title"] for each in stage.steps], titles)

    def test_undos_are_written_first(self) -> None:
        """Each step of a creation has its undo written down when it begins, and nothing is left of them at the end."""
        self.run_op(CREATE)
        titles = [[undo.title.split(" of ")[0] for undo in kept] for kept in self.stage.kept]
        self.assertEqual(titles[0], ["remove disk/0"])
        self.assertEqual(titles[1], ["remove disk/0", "remove disk/1"])
        self.assertEqual(titles[2], ["remove disk/0", "remove disk/1", "remove instance web2.example.com"])
        self.assertEqual(titles[-1], [])

    def test_undone_is_told(self) -> None:
        """What is taken back is told, last first."""
        self.nodes.fail(InstanceOsAdd, "no")
        self.refused(CREATE, OpExecError)
        undone = [each["title"] for each in self.stage.steps if each["state"] == "taken back"]
        self.assertEqual(len(undone), 5)
        self.assertTrue(undone[0].startswith("shut down disk/0 of instance web2.example.com on node node2"))
        self.assertTrue(undone[-1].startswith("remove disk/0 of instance web2.example.com"))

    def test_the_watch(self) -> None:
        """What holds plans and actions together refuses what is done outside of a step, or elsewhere."""
        steps = self.stage.plan_of_steps()
        steps.plan = [PlannedStep("one", ("node1.example.com",))]
        config, nodes = PlannedConfig(self.stage.config, steps), PlannedNodes(self.nodes, steps)

        async def elsewhere() -> Any:
            async with steps.step("one"):
                await nodes.call(NODE2, InstanceStart(instance=None))  # type: ignore[arg-type]

        tag = config.change_tags(TagKind.CLUSTER, None, ["one"], [])
        self.assertIn("none of the steps", str(self.failureResultOf(Deferred.fromCoroutine(tag), NotPlanned).value))
        self.assertIn("node2", str(self.failureResultOf(Deferred.fromCoroutine(elsewhere()), NotPlanned).value))

    def test_described(self) -> None:
        """A plan as it is shown when nothing is to be done."""
        plan = [PlannedStep("stop it", ("node1",), ("instance web1",)), PlannedStep("mark it")]
        lines = ["Locks: instance/web1 (exclusive)", "1. stop it (on node1): instance web1", "2. mark it"]
        self.assertEqual(described(plan, ["instance/web1 (exclusive)"]), lines)
        self.assertEqual(described([], []), ["Locks: none", "Nothing would be changed"])
