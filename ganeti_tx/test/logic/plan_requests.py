"""Requests for every unit that succeed, the steps that they take, and the configurations in which they do."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.enums import AdminState, DiskTemplate, StorageType, TagKind
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.opcodes.types import ExportMode, InstanceCreateMode, JobQueryKind, RebootType
from ganeti_tx.test.logic.stage import CONFIG, GROUP, INSTANCE
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
            "make keys by which both nodes know each other",
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
