"""Faults of instances: where they run, how large they are, and on which nodes they lie."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.test_mirrored import with_mirrored_instance
from ganeti_tx.test.inprocess.verify_faults.fault import ADD, ClusterFault, cluster_with, mirrored, node_with, run
from ganeti_tx.test.logic.stage import INSTANCE

RUNNING = b'{"id": 9, "memory": 128, "vcpus": 1, "started": 0.0}'
LIMIT = 1 << 16
EXCLUSIVE = {"exclusive_storage": True}
LARGE = {"minmem": 40000, "maxmem": 40000}


def second_secondary(config: ConfigData) -> ConfigData:
    """The mirrored instance has another disk, whose second copy is on the first node."""
    config = with_mirrored_instance(config)
    (disk,) = config.disks.values()
    first, second, _ = sorted(config.nodes.values(), key=lambda node: node.name)
    homes = (second.uuid, first.uuid)
    logical_id: tuple[Any, ...] = (*homes, 11009, 7, 7, "secret")
    other = replace(disk, uuid="other-uuid", logical_id=logical_id, nodes=homes, children=())
    instance = replace(config.instances[INSTANCE.uuid], disks=(disk.uuid, other.uuid))
    return replace(config, instances={INSTANCE.uuid: instance}, disks={**config.disks, other.uuid: other})


def file_of(cluster: InProcessCluster, name: str) -> Any:
    """By which the fake hypervisor knows that an instance runs."""
    return cluster.paths.run_dir / "fake-hypervisor" / name


def runs(cluster: InProcessCluster, number: int, name: str) -> None:
    """An instance is started behind the cluster's back."""
    node = cluster.node(number)
    node.disk.mkdir(cluster.paths.run_dir / "fake-hypervisor")
    put(node.disk, file_of(cluster, name), RUNNING)


def stopped(cluster: InProcessCluster) -> None:
    """An instance dies."""
    run(cluster, ADD)
    cluster.node(2).disk.remove(file_of(cluster, "web1.example.com"))


def elsewhere(cluster: InProcessCluster) -> None:
    """An instance runs on another node, too."""
    run(cluster, ADD)
    runs(cluster, 3, "web1.example.com")


def left_over(cluster: InProcessCluster) -> None:
    """Its node could not be asked when its instance was removed."""
    run(cluster, ADD.replace("-n node2", "-n node2 --no-start"))
    machine = RUNNING.replace(b"{", b'{"uuid": "11111111-1111-4111-8111-111111111111", ')
    cluster.node(2).disk.mkdir(cluster.paths.run_dir / "fake-hypervisor")
    put(cluster.node(2).disk, file_of(cluster, "web1.example.com"), machine)


def without_disk(cluster: InProcessCluster) -> None:
    """Somebody removes the file of a disk."""
    run(cluster, ADD)
    cluster.node(2).files_storage.disks.clear()


def misread(cluster: InProcessCluster) -> None:
    """A machine has an image as a raw disk, as one that an older version had started."""
    run(cluster, ADD.replace("-s 1G", "--disk 0:size=1G,format=qcow2"))
    disk, path = cluster.node(2).disk, file_of(cluster, "web1.example.com")
    put(disk, path, disk.read(path, LIMIT).replace(b'"qcow2"', b'"raw"'))


def other_rack(cluster: InProcessCluster) -> None:
    """A node of a mirrored instance goes into another group."""
    run(cluster, "gnt-group add rack2", "gnt-group assign-nodes --force rack2 node3")


FAULTS = (
    ClusterFault(VerifyCode.EINSTANCEDOWN, "an instance dies", "not running on its primary node node2", stopped),
    ClusterFault(
        VerifyCode.EINSTANCEWRONGNODE,
        "an instance runs on two nodes",
        "should not run on node node3.example.com",
        elsewhere,
    ),
    ClusterFault(
        VerifyCode.EINSTANCEBADNODE,
        "the secondary node is offline",
        "offline secondary node(s) node3.example.com",
        prepare=mirrored(node_with(3, offline=True, master_candidate=False)),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEBADNODE,
        "an instance is to run on a node that is offline",
        "is marked as running and lives on offline node node2.example.com",
        prepare=mirrored(node_with(2, offline=True, master_candidate=False), admin_state=AdminState.UP),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEBADNODE,
        "a node with an instance is to have none",
        "lives on non-vm_capable node node2.example.com",
        prepare=mirrored(node_with(2, vm_capable=False)),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEFAULTYDISK,
        "the file of a disk is removed",
        "couldn't retrieve status for disk/0 on node2",
        without_disk,
    ),
    ClusterFault(
        VerifyCode.EINSTANCEFAULTYDISK,
        "a machine reads an image as a raw disk",
        "disk/0 is of format qcow2, and the machine that runs on node2.example.com reads and writes it as raw",
        misread,
    ),
    ClusterFault(
        VerifyCode.EINSTANCEMISSINGDISK,
        "the volumes of a mirror are gone",
        "missing on node2.example.com",
        prepare=mirrored(),
    ),
    ClusterFault(
        VerifyCode.EINSTANCELAYOUT,
        "the disks have different secondary nodes",
        "multiple secondary nodes",
        prepare=second_secondary,
        warning=True,
    ),
    ClusterFault(
        VerifyCode.EINSTANCESPLITGROUPS,
        "a node goes to another group",
        "in different groups: default, rack2",
        other_rack,
        mirrored(),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEPOLICY,
        "an instance is larger than its group allows",
        "memory-size value",
        prepare=mirrored(beparams=LARGE),
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ENODEN1,
        "a large instance could not fail over",
        "not enough memory to accommodate instance failovers should node node2.example.com fail (40000MiB needed",
        prepare=mirrored(beparams=LARGE),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEUNSUITABLENODE,
        "exclusive storage, and mirrors",
        "template drbd, which is not supported",
        prepare=mirrored(cluster_with(ndparams=EXCLUSIVE)),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEMISSINGCFGPARAMETER,
        "exclusive storage, and disks without spindles",
        "number of spindles not configured for disk/0",
        prepare=mirrored(cluster_with(ndparams=EXCLUSIVE)),
    ),
    ClusterFault(
        VerifyCode.ENODEORPHANINSTANCE,
        "a machine was left where its instance was removed while the node was offline, and the name was used again",
        "machine web1.example.com that runs under fake on node node2.example.com was started for another instance of that name",
        left_over,
    ),
    ClusterFault(
        VerifyCode.ENODEORPHANINSTANCE,
        "an instance was started by hand",
        "unknown instance ghost.example.com",
        lambda cluster: runs(cluster, 2, "ghost.example.com"),
    ),
)
