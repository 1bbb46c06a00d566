"""Every unit's plan and what it does are held together: the stage refuses each action that no step of the plan tells of."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.plan import PlannedStep, described
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import AdminState, DiskTemplate, StorageType, TagKind
from ganeti_tx.model.migration import MigrationProgress, MigrationState
from ganeti_tx.model.node_files import ALIKE
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.opcodes.types import ExportMode, InstanceCreateMode, JobQueryKind, RebootType
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
from ganeti_tx.rpc.calls.instance import InstanceConsole, InstanceInfo, InstanceStart
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
from ganeti_tx.test.logic.evacuations import SPREAD, moved, say
from ganeti_tx.test.logic.plan_watch import NotPlanned, PlannedConfig, PlannedNodes
from ganeti_tx.test.logic.stage import CONFIG, GROUP, INSTANCE, RUNNING, TWO_GROUPS, Stage, UnitTestCase
from ganeti_tx.test.model.samples import DISK, NETWORK, NODE, NODE2

WEB1 = "web1.example.com"
CREATE = ops.OpInstanceCreate(
    instance_name="web2",
    mode=InstanceCreateMode.CREATE,
    disks=({"size": "2G"}, {"size": 1024}),
    disk_template=DiskTemplate.FILE,
    nics=({},),
    os_type="busybox",
    pnode="node2",
)
ALONE = replace(
    CONFIG,
    nodes={NODE.uuid: NODE},
    instances={},
    disks={},
    nodegroups={GROUP.uuid: replace(GROUP, members=(NODE.uuid,))},
    cluster=replace(CONFIG.cluster, candidate_pool_size=1),
)
WITH_NETWORK = replace(CONFIG, networks={NETWORK.uuid: NETWORK})
WITH_POWER = replace(CONFIG, cluster=replace(CONFIG.cluster, ndparams={"oob_program": "/sbin/power"}))
UP = replace(CONFIG, instances={INSTANCE.uuid: replace(INSTANCE, admin_state=AdminState.UP)})
#: Any node can have it.
ANYWHERE = replace(CONFIG, instances={INSTANCE.uuid: replace(INSTANCE, admin_state=AdminState.UP, disks=())}, disks={})
WITH_VOLUMES = replace(
    CONFIG,
    cluster=replace(CONFIG.cluster, enabled_disk_templates=(DiskTemplate.PLAIN,), volume_group_name="xenvg"),
    instances={},
    disks={},
)
STORAGE_OPS = ops.OpNodeModifyStorage | ops.OpNodeQueryStorage | ops.OpNodeQueryvols | ops.OpRepairNodeStorage
MIRRORED = replace(CONFIG, disks={DISK.uuid: DISK}, instances={INSTANCE.uuid: replace(INSTANCE, network_port=None)})
DOWN = "mark the instance as down"


def asked(op_id: str, **params: Any) -> OpCode:
    """A request as clients write it."""
    return ops.decode({"OP_ID": op_id, **params})


def changed(**settings: Any) -> OpCode:
    """A change of the cluster's settings."""
    return asked("OP_CLUSTER_SET_PARAMS", **settings)


#: Requests that succeed, and the steps that they take; a unit that changes nothing has none.
TAKEN: list[tuple[OpCode, list[str]]] = [
    (
        ops.OpBackupExport(instance_name=WEB1, target_node="node2"),
        [
            "begin with the export",
            "copy its disks by the OS export scripts",
            "finalize the export",
            "remove older exports",
        ],
    ),
    (ops.OpBackupPrepare(instance_name=WEB1, mode=ExportMode.LOCAL), []),
    (ops.OpBackupRemove(instance_name=WEB1), ["remove the exports"]),
    (ops.OpClusterActivateMasterIp(), ["take the cluster's address"]),
    (ops.OpClusterDeactivateMasterIp(), ["give the cluster's address up"]),
    (ops.OpClusterConfigQuery(output_fields=("cluster_name",)), []),
    (ops.OpClusterDestroy(), []),
    (ops.OpClusterPostInit(), []),
    (ops.OpClusterQuery(), []),
    (
        ops.OpClusterRedistConf(),
        ["learn the certificates of nodes", "learn the SSH keys of nodes", "send the configuration to all nodes"],
    ),
    (
        ops.OpClusterRenewCrypto(cluster_certificate=True),
        [
            "have all nodes have the keys that the master has",
            "know nodes by the certificates that they have",
            "have all nodes trust what comes",
            "have all nodes use it",
            "have all nodes know the certificates that come",
            *(f"give node {each.name} its new certificates" for each in (NODE, NODE2)),
            "know nodes by their new certificates alone",
            "have all nodes forget what was before",
        ],
    ),
    (
        ops.OpClusterRename(name="web2"),
        [
            "give the cluster's former address up",
            "give the cluster its new name and address",
            "have the Remote API's certificate name the cluster",
            "send the certificate to all nodes",
            "take the cluster's new address",
        ],
    ),
    (changed(candidate_pool_size=3), ["change the settings of the cluster"]),
    (
        changed(master_netdev="eth9"),
        [
            "give the cluster's address up on its old interface",
            "change the settings of the cluster",
            "take the cluster's address",
        ],
    ),
    (
        changed(master_netmask=25),
        ["change the settings of the cluster", "give the cluster's address its new netmask"],
    ),
    (
        changed(instance_communication_network="mesh"),
        [
            "make the network of instance communication",
            "change the settings of the cluster",
            "submit the jobs that connect it to node groups",
        ],
    ),
    (ops.OpClusterRepairDiskSizes(), ["record the size of disk/0 of instance web1.example.com"]),
    (ops.OpClusterVerify(), ["submit the jobs that check the cluster"]),
    (ops.OpClusterVerifyConfig(), []),
    (ops.OpClusterVerifyDisks(), ["submit the jobs that look for broken disks"]),
    (ops.OpClusterVerifyGroup(group_name=GROUP.name), []),
    (ops.OpGroupVerifyDisks(group_name=GROUP.name), []),
    (ops.OpGroupAdd(group_name="rack3"), ["add the group to the configuration"]),
    (ops.OpGroupAssignNodes(group_name="rack2", nodes=("node2",)), ["move the nodes to the group"]),
    (ops.OpGroupEvacuate(group_name="rack2"), []),
    (ops.OpGroupRemove(group_name="rack2"), ["remove the group from the configuration"]),
    (ops.OpGroupRename(group_name="default", new_name="rack3"), ["rename the group"]),
    (ops.OpGroupSetParams(group_name="default"), ["change the group"]),
    (
        ops.OpInstanceActivateDisks(instance_name=WEB1),
        ["mark its disks as active", "make its disks ready"],
    ),
    (ops.OpInstanceDeactivateDisks(instance_name=WEB1), ["take its disks down"]),
    (
        ops.OpInstanceGrowDisk(instance_name=WEB1, disk=0, amount=512),
        [
            "make the disk ready",
            "grow the disk",
            "record its size",
            "wait until the disk is in sync",
            "take the disk down",
        ],
    ),
    (
        ops.OpInstanceChangeGroup(instance_name=WEB1, iallocator="hail"),
        ["submit the jobs that move the instances"],
    ),
    (
        asked("OP_INSTANCE_REPLACE_DISKS", instance_name=WEB1, mode="replace_on_secondary"),
        [
            "make the disks ready",
            "remove what an earlier replacement has left",
            "create new volumes",
            "detach the volumes of disk/0",
            "put the old volumes of disk/0 aside",
            "put the new volumes of disk/0 in their place",
            "attach the new volumes of disk/0",
            "wait until the disks are in sync",
            "remove the old copy",
            "take the disks down",
        ],
    ),
    (
        asked("OP_INSTANCE_RECREATE_DISKS", instance_name=WEB1, nodes=["node2"]),
        ["create disk/0", "record where and how large its disks are"],
    ),
    (ops.OpInstanceConsole(instance_name=WEB1), []),
    (
        CREATE,
        [
            "create disk/0",
            "create disk/1",
            "add the instance to the configuration",
            "run the OS create scripts",
            "start the instance",
        ],
    ),
    (
        ops.OpInstanceFailover(instance_name=WEB1, target_node="node2"),
        [
            "stop the instance on its old node",
            "take its disks down on its old node",
            "change its primary node",
            "start the instance on its new node",
        ],
    ),
    (
        ops.OpInstanceMove(instance_name=WEB1, target_node="node2"),
        [
            "stop the instance on its old node",
            "create disk/0",
            "copy its disks to its new node",
            "change its primary node",
            "remove its disks on its old node",
        ],
    ),
    (ops.OpInstanceMultiAlloc(instances=(CREATE,)), ["submit the jobs that create the instances"]),
    (
        ops.OpInstanceMigrate(instance_name=WEB1, target_node="node2"),
        [
            "make its disks ready on its new node",
            "prepare its new node",
            "send the instance to its new node",
            "end the migration on both nodes",
        ],
    ),
    (ops.OpNodeMigrate(node_name="node1"), ["submit the jobs that migrate its instances"]),
    (ops.OpInstanceQueryData(static=True), []),
    (
        ops.OpInstanceReboot(instance_name=WEB1, reboot_type=RebootType.HARD),
        ["start the instance", "mark the instance as up"],
    ),
    (
        ops.OpInstanceRemove(instance_name=WEB1),
        ["stop the instance", DOWN, "remove its disks", "remove the instance from the configuration"],
    ),
    (
        ops.OpInstanceReinstall(instance_name=WEB1, os_type="busybox"),
        ["run the OS create scripts", "change its operating system in the configuration"],
    ),
    (
        ops.OpInstanceRename(instance_name=WEB1, new_name="web2"),
        ["rename its disks", "rename the instance", "run the OS rename script"],
    ),
    (
        asked(
            "OP_INSTANCE_SET_PARAMS",
            instance_name=WEB1,
            disks=[["add", -1, {"size": 1024}], ["remove", 0, {}]],
            beparams={"vcpus": 2},
        ),
        [
            "create disk/0",
            "make the new disks ready",
            "change the instance in the configuration",
            "remove what was disk/0",
        ],
    ),
    (ops.OpInstanceShutdown(instance_name=WEB1), [DOWN, "stop the instance", "shut down its disks"]),
    (ops.OpInstanceStartup(instance_name=WEB1), ["mark the instance as up", "start the instance"]),
    (asked("OP_NETWORK_ADD", network_name="wan", network="10.6.0.0/24"), ["add the network to the configuration"]),
    (
        asked(
            "OP_NETWORK_CONNECT",
            network_name="lan",
            group_name="default",
            network_mode="bridged",
            network_link="br0",
            conflicts_check=False,
        ),
        ["connect the network to the node group"],
    ),
    (
        asked("OP_NETWORK_DISCONNECT", network_name="lan", group_name="default"),
        ["disconnect the network from the node group"],
    ),
    (asked("OP_NETWORK_REMOVE", network_name="lan"), ["remove the network from the configuration"]),
    (asked("OP_NETWORK_RENAME", network_name="lan", new_name="net"), ["rename the network"]),
    (asked("OP_NETWORK_SET_PARAMS", network_name="lan", mac_prefix="aa:00:55"), ["change the network"]),
    (ops.OpNodeAdd(node_name="web2.example.com"), ["add the node to the configuration", "learn its SSH keys"]),
    (asked("OP_NODE_EVACUATE", node_name="node2", mode="primary-only", iallocator="hail"), []),
    (
        ops.OpNodeModifyStorage(
            node_name="node2", storage_type=StorageType.LVM_PV, name="/dev/sdb", changes={"allocatable": False}
        ),
        ["change the storage unit"],
    ),
    (ops.OpNodeQueryStorage(output_fields=("name",), storage_type=StorageType.LVM_VG), []),
    (ops.OpNodeQueryvols(output_fields=("name",)), []),
    (
        ops.OpNodeRemove(node_name="node2.example.com"),
        ["have the node leave the cluster", "remove the node from the configuration"],
    ),
    (
        ops.OpRepairNodeStorage(node_name="node2", storage_type=StorageType.LVM_VG, name="xenvg"),
        ["mend the storage unit"],
    ),
    (ops.OpNodePowercycle(node_name="node2"), ["reset the node"]),
    (
        ops.OpNodeSetParams(node_name="node2.example.com", drained=True),
        ["change the node", "remove what only master candidates keep"],
    ),
    (
        asked("OP_OOB_COMMAND", node_names=["node2", "node1"], command="power-on", power_delay=0.0),
        ["run power-on for node node2.example.com", "run power-on for node node1.example.com"],
    ),
    (asked("OP_RESTRICTED_COMMAND", nodes=["node1", "node2"], command="ls"), ["run the command"]),
    (ops.OpExtStorageDiagnose(output_fields=("name",)), []),
    (ops.OpOsDiagnose(output_fields=("name",)), []),
    (ops.OpQuery(what=JobQueryKind.CLUSTER, fields=("name",)), []),
    (ops.OpQueryFields(what=JobQueryKind.OS), []),
    (ops.OpTagsDel(kind=TagKind.INSTANCE, name=WEB1, tags=tuple(INSTANCE.tags)[:1]), ["remove the tags"]),
    (ops.OpTagsGet(kind=TagKind.CLUSTER), []),
    (ops.OpTagsSearch(pattern="."), []),
    (ops.OpTagsSet(kind=TagKind.CLUSTER, tags=("one",)), ["set the tags"]),
    (asked("OP_TEST_ALLOCATOR", direction="in", mode="relocate", name=WEB1), []),
    (ops.OpTestDelay(duration=0.0, on_nodes=("node2.example.com",), on_master=False), ["wait"]),
    (asked("OP_TEST_OS_PARAMS", osparams_secret={"a": "b"}), []),
    (ops.OpTestJqueue(log_messages=("a",)), []),
]


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
            stage.nodes.succeed(AcceptInstance, InstanceMigrate, BlockdevOpen, BlockdevClose)
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
            stage.nodes.answer(InstanceConsole, {"instance": WEB1, "kind": "ssh"})
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
        self.nodes.fail(InstanceStart, "no")
        self.refused(CREATE, OpExecError)
        undone = [each["title"] for each in self.stage.steps if each["state"] == "taken back"]
        self.assertEqual(len(undone), 6)
        self.assertTrue(undone[0].startswith("stop instance web2.example.com on node node2"))
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
