"""A call of each method of the stock client that submits a job, and what the job must hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

WEB = "web1.dev.example"
OS = "busybox+default"


@frozen
class Submitting:
    """One call; `fields` are of its opcode, `ended` is how the job must end, None where parts of it may not be there."""

    method: str
    args: Sequence[Any]
    op_id: str
    fields: Mapping[str, Any]
    named: Mapping[str, Any] = field(factory=dict)
    ended: str | None = None


def succeeds(method: str, *args: Any, op: str, named: Mapping[str, Any] | None = None, **fields: Any) -> Submitting:
    """A call whose job succeeds."""
    return Submitting(method, args, op, fields, named or {}, "success")


def becomes(method: str, *args: Any, op: str, named: Mapping[str, Any] | None = None, **fields: Any) -> Submitting:
    """A call whose job may end either way, but never without a reason."""
    return Submitting(method, args, op, fields, named or {})


IN_ORDER = (
    succeeds(
        "CreateInstance",
        "create",
        WEB,
        "diskless",
        [],
        [{}],
        named={"os": OS, "name_check": False, "ip_check": False, "pnode": "node1.dev.example", "hypervisor": "fake"},
        op="OP_INSTANCE_CREATE",
        instance_name=WEB,
        os_type=OS,
        disk_template="diskless",
        name_check=False,
    ),
    succeeds("GetInstanceInfo", WEB, named={"static": True}, op="OP_INSTANCE_QUERY_DATA", instances=[WEB], static=True),
    succeeds(
        "ShutdownInstance",
        WEB,
        named={"no_remember": True, "timeout": 5},
        op="OP_INSTANCE_SHUTDOWN",
        instance_name=WEB,
        no_remember=True,
        timeout=5,
    ),
    succeeds("StartupInstance", WEB, op="OP_INSTANCE_STARTUP", instance_name=WEB, force=False),
    succeeds(
        "RebootInstance",
        WEB,
        named={"reboot_type": "hard", "ignore_secondaries": True},
        op="OP_INSTANCE_REBOOT",
        reboot_type="hard",
        ignore_secondaries=True,
    ),
    becomes(
        "ModifyInstance",
        WEB,
        named={"beparams": {"memory": 256}},
        op="OP_INSTANCE_SET_PARAMS",
        beparams={"memory": 256},
    ),
    becomes("MigrateInstance", WEB, named={"mode": "live", "cleanup": False}, op="OP_INSTANCE_MIGRATE", mode="live"),
    becomes(
        "FailoverInstance", WEB, named={"ignore_consistency": True}, op="OP_INSTANCE_FAILOVER", ignore_consistency=True
    ),
    becomes(
        "ActivateInstanceDisks", WEB, named={"ignore_size": True}, op="OP_INSTANCE_ACTIVATE_DISKS", ignore_size=True
    ),
    becomes("DeactivateInstanceDisks", WEB, named={"force": True}, op="OP_INSTANCE_DEACTIVATE_DISKS", force=True),
    becomes("RecreateInstanceDisks", WEB, named={"disks": [0]}, op="OP_INSTANCE_RECREATE_DISKS", disks=[0]),
    becomes(
        "ReplaceInstanceDisks",
        WEB,
        named={"disks": [0, 1], "mode": "replace_on_primary", "early_release": True},
        op="OP_INSTANCE_REPLACE_DISKS",
        disks=[0, 1],
        mode="replace_on_primary",
        early_release=True,
    ),
    becomes(
        "GrowInstanceDisk",
        WEB,
        0,
        100,
        named={"wait_for_sync": False},
        op="OP_INSTANCE_GROW_DISK",
        disk=0,
        amount=100,
        wait_for_sync=False,
    ),
    becomes("PrepareExport", WEB, "remote", op="OP_BACKUP_PREPARE", mode="remote"),
    becomes(
        "ExportInstance",
        WEB,
        "local",
        "node2.dev.example",
        named={"shutdown": True},
        op="OP_BACKUP_EXPORT",
        mode="local",
        target_node="node2.dev.example",
        shutdown=True,
    ),
    becomes(
        "ReinstallInstance", WEB, named={"os": OS, "no_startup": True}, op="OP_INSTANCE_SHUTDOWN", instance_name=WEB
    ),
    succeeds("AddInstanceTags", WEB, ["a", "b"], op="OP_TAGS_SET", kind="instance", name=WEB, tags=["a", "b"]),
    succeeds("DeleteInstanceTags", WEB, ["a"], op="OP_TAGS_DEL", kind="instance", name=WEB, tags=["a"]),
    becomes("InstancesMultiAlloc", [], named={"iallocator": "hail"}, op="OP_INSTANCE_MULTI_ALLOC", instances=[]),
    succeeds("DeleteInstance", WEB, named={"dry_run": True}, op="OP_INSTANCE_REMOVE", dry_run=True),
    becomes(
        "RenameInstance",
        WEB,
        "web2.dev.example",
        named={"ip_check": False, "name_check": False},
        op="OP_INSTANCE_RENAME",
        new_name="web2.dev.example",
        ip_check=False,
    ),
    succeeds(
        "SetNodeRole", "node3", "drained", named={"force": True}, op="OP_NODE_SET_PARAMS", drained=True, force=True
    ),
    succeeds(
        "SetNodeRole", "node3", "regular", op="OP_NODE_SET_PARAMS", master_candidate=False, offline=False, drained=False
    ),
    succeeds("ModifyNode", "node3", named={"master_candidate": True}, op="OP_NODE_SET_PARAMS", master_candidate=True),
    becomes(
        "EvacuateNode",
        "node3",
        named={"mode": "all", "iallocator": "hail", "early_release": True},
        op="OP_NODE_EVACUATE",
        mode="all",
        iallocator="hail",
        early_release=True,
    ),
    becomes(
        "MigrateNode",
        "node3",
        named={"mode": "live", "iallocator": "hail"},
        op="OP_NODE_MIGRATE",
        mode="live",
        iallocator="hail",
    ),
    # A node that is there would go down with this machine.
    becomes("PowercycleNode", "no-such-node", named={"force": True}, op="OP_NODE_POWERCYCLE", force=True),
    becomes(
        "GetNodeStorageUnits",
        "node1.dev.example",
        "file",
        "name,size",
        op="OP_NODE_QUERY_STORAGE",
        nodes=["node1.dev.example"],
        storage_type="file",
        output_fields=["name", "size"],
    ),
    becomes(
        "ModifyNodeStorageUnits",
        "node1",
        "lvm-pv",
        "/dev/none",
        named={"allocatable": False},
        op="OP_NODE_MODIFY_STORAGE",
        storage_type="lvm-pv",
        name="/dev/none",
        changes={"allocatable": False},
    ),
    becomes(
        "RepairNodeStorageUnits",
        "node1",
        "lvm-vg",
        "none",
        op="OP_REPAIR_NODE_STORAGE",
        storage_type="lvm-vg",
        name="none",
    ),
    succeeds(
        "AddNodeTags", "node2.dev.example", ["x"], op="OP_TAGS_SET", kind="node", name="node2.dev.example", tags=["x"]
    ),
    succeeds("DeleteNodeTags", "node2.dev.example", ["x"], op="OP_TAGS_DEL", kind="node", tags=["x"]),
    succeeds(
        "CreateGroup",
        "racks",
        named={"alloc_policy": "last_resort"},
        op="OP_GROUP_ADD",
        group_name="racks",
        alloc_policy="last_resort",
    ),
    succeeds("RenameGroup", "racks", "shelves", op="OP_GROUP_RENAME", new_name="shelves"),
    succeeds(
        "ModifyGroup",
        "shelves",
        named={"alloc_policy": "preferred", "ndparams": {"spindle_count": 2}},
        op="OP_GROUP_SET_PARAMS",
        alloc_policy="preferred",
        ndparams={"spindle_count": 2},
    ),
    succeeds(
        "AssignGroupNodes",
        "shelves",
        ["node3"],
        named={"force": True},
        op="OP_GROUP_ASSIGN_NODES",
        nodes=["node3"],
        force=True,
    ),
    succeeds("AssignGroupNodes", "default", ["node3"], op="OP_GROUP_ASSIGN_NODES", nodes=["node3"]),
    succeeds("DeleteGroup", "shelves", op="OP_GROUP_REMOVE", group_name="shelves"),
    becomes("DeleteGroup", "no-such-group", op="OP_GROUP_REMOVE", group_name="no-such-group"),
    succeeds("AddGroupTags", "default", ["x"], op="OP_TAGS_SET", kind="nodegroup", name="default", tags=["x"]),
    succeeds("DeleteGroupTags", "default", ["x"], op="OP_TAGS_DEL", kind="nodegroup", tags=["x"]),
    succeeds(
        "CreateNetwork",
        "lan",
        "192.0.2.0/24",
        named={"tags": "a,b"},
        op="OP_NETWORK_ADD",
        network="192.0.2.0/24",
        tags=["a", "b"],
    ),
    succeeds(
        "ConnectNetwork",
        "lan",
        "default",
        "bridged",
        "br0",
        op="OP_NETWORK_CONNECT",
        group_name="default",
        network_mode="bridged",
        network_link="br0",
    ),
    succeeds("ModifyNetwork", "lan", named={"gateway": "192.0.2.1"}, op="OP_NETWORK_SET_PARAMS", gateway="192.0.2.1"),
    succeeds("AddNetworkTags", "lan", ["x"], op="OP_TAGS_SET", kind="network", name="lan", tags=["x"]),
    succeeds("DeleteNetworkTags", "lan", ["x"], op="OP_TAGS_DEL", kind="network", tags=["x"]),
    becomes("DeleteNetwork", "lan", op="OP_NETWORK_REMOVE", network_name="lan"),
    succeeds("DisconnectNetwork", "lan", "default", op="OP_NETWORK_DISCONNECT", group_name="default"),
    succeeds("DeleteNetwork", "lan", op="OP_NETWORK_REMOVE", network_name="lan"),
    becomes("DeleteNetwork", "no-such-net", op="OP_NETWORK_REMOVE", network_name="no-such-net"),
    succeeds("AddClusterTags", ["x", "y"], op="OP_TAGS_SET", kind="cluster", tags=["x", "y"]),
    succeeds("DeleteClusterTags", ["x"], op="OP_TAGS_DEL", kind="cluster", tags=["x"]),
    succeeds("ModifyCluster", named={"candidate_pool_size": 9}, op="OP_CLUSTER_SET_PARAMS", candidate_pool_size=9),
    succeeds("RedistributeConfig", op="OP_CLUSTER_REDIST_CONF"),
)
