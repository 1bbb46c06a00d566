"""Faults of volume groups and mirrors: what LVM and DRBD themselves print of them is read by their drivers."""

from collections.abc import Callable

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.node.storage.drbd import driver as drbd
from ganeti_tx.node.storage.lvm import driver as lvm
from ganeti_tx.runtime.process import NOT_FOUND, ProcessResult
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.verify_faults.fault import ClusterFault, cluster_with, run
from ganeti_tx.test.inprocess.verify_faults.of_instances import EXCLUSIVE
from ganeti_tx.test.node.storage.drbd.captured import captured as drbd_printed
from ganeti_tx.test.node.storage.lvm.captured import captured as lvm_printed

MODULE, HELPER = "cat /proc/drbd", "cat /sys/module/drbd/parameters/usermode_helper"
#: The version and no minor; the same with minor 0.
PROC = drbd_printed("syncsource.proc_drbd")
IDLE = "\n".join([*PROC.splitlines()[:2], ""])
#: What the programs of a healthy node print.
HEALTHY = {
    "vgs": lvm_printed("groups.json"),
    "pvs": lvm_printed("physical.json"),
    "lvs": lvm_printed("none.json"),
    MODULE: IDLE.encode(),
    HELPER: b"/bin/true\n",
}
ON_VOLUMES = {"enabled_disk_templates": (DiskTemplate.PLAIN,), "volume_group_name": "xenvg"}
WITH_MIRRORS = {"enabled_disk_templates": (DiskTemplate.DRBD,), "volume_group_name": "xenvg"}
SIZE = b'"pv_size":"535822336"'


def node_prints(program: str, text: str | bytes, status: int = 0) -> Callable[[InProcessCluster], None]:
    """All nodes have the drivers of LVM and DRBD; a program of the second one prints something else than the others'."""
    wrong = ProcessResult(status=status, stdout=text.encode() if isinstance(text, str) else text)

    def do(cluster: InProcessCluster) -> None:
        for node in cluster.members:
            node.stop()
            node.drivers = (lvm.register, drbd.register)
            node.start()
            for words, printed in HEALTHY.items():
                faulty = node is cluster.node(2) and words == program
                node.scripts.script(words.split(), wrong if faulty else ProcessResult(stdout=printed))

    return do


def cut_cable(cluster: InProcessCluster) -> None:
    """The two sides of a mirror do not reach each other."""
    run(cluster, "gnt-instance add -t drbd -s 1G -o noop -n node2:node3 --no-wait-for-sync --ignore-ipolicy web1")
    cluster.pass_time(1000)
    assert cluster.mirror_wire is not None
    cluster.mirror_wire.split("192.0.2.2", "192.0.2.3")


def ceph_away(cluster: InProcessCluster) -> None:
    """Ceph does not answer."""
    cluster.shared.ceph.up = False


def stray_file(cluster: InProcessCluster) -> None:
    """A file is in the pool that is no instance's."""
    cluster.node(2).files_storage.disks["loop//srv/ganeti/file-storage/ghost/disk0"] = FakeDisk(1)


def two_on_a_board(cluster: InProcessCluster) -> None:
    """A provider says which parameters name storage that is there already, when two instances have the same."""
    run(cluster, "gnt-cluster modify --enabled-disk-templates ext,file --ipolicy-disk-templates ext,file")
    providers = [(node, node.add_provider(parameters=b"board number of it\n")) for node in cluster.members]
    for name in ("web1", "web2"):
        run(
            cluster,
            f"gnt-instance add -t ext --no-start -o noop --disk 0:size=1g,provider=shelf,board=3 -n node2 {name}",
        )
    for node, path in providers:
        put(node.disk, path / "identity.list", b"board\n")


FAULTS = (
    ClusterFault(
        VerifyCode.ENODEORPHANLV,
        "a file of nobody's is in the pool",
        "ghost/disk0 is unknown",
        stray_file,
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ENODEORPHANLV,
        "a logical volume is nobody's",
        "volume xenvg/u2.disk0 is unknown",
        node_prints("lvs", lvm_printed("volumes.json")),
        cluster_with(**ON_VOLUMES),
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ENODELVM,
        "the volume group is lost",
        "volume group 'xenvg' is not on this node",
        node_prints("vgs", lvm_printed("none.json")),
        cluster_with(**ON_VOLUMES),
    ),
    ClusterFault(
        VerifyCode.ENODELVM,
        "a physical volume is lost",
        "volume group 'xenvg' lacks physical volumes",
        node_prints("vgs", lvm_printed("groups_partial.json")),
        cluster_with(**ON_VOLUMES),
    ),
    ClusterFault(
        VerifyCode.ENODELVM,
        "LVM is not installed",
        "LVM is not installed (package lvm2)",
        node_prints("vgs", "", NOT_FOUND),
        cluster_with(**ON_VOLUMES),
    ),
    ClusterFault(
        VerifyCode.ENODESETUP,
        "a pool of Ceph cannot be reached",
        "rbd pool 'rbd' cannot be used: rbd: couldn't connect to the cluster!",
        ceph_away,
        cluster_with(enabled_disk_templates=(DiskTemplate.RBD,)),
    ),
    ClusterFault(
        VerifyCode.EGROUPDIFFERENTPVSIZE,
        "exclusive storage, and a node got a larger disk",
        "biggest (1023 MB) is on node2.example.com",
        node_prints("pvs", lvm_printed("physical.json").replace(SIZE, b'"pv_size":"1072693248"', 1)),
        cluster_with(**ON_VOLUMES, ndparams=EXCLUSIVE),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEFAULTYDISK,
        "the sides of a mirror do not reach each other",
        "disk/0 on node2.example.com is degraded",
        cut_cable,
        cluster_with(**WITH_MIRRORS),
    ),
    ClusterFault(
        VerifyCode.EINSTANCEFAULTYDISK,
        "two instances are on one volume that was there already",
        "disk/0 is on the same storage as disk/0 of instance web2.example.com (shelf: board=3)",
        two_on_a_board,
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ENODEDRBD,
        "the module is not loaded",
        "the kernel module drbd is not loaded on this node",
        node_prints(MODULE, "", 1),
        cluster_with(**WITH_MIRRORS),
    ),
    ClusterFault(
        VerifyCode.ENODEDRBD,
        "the module is a later one",
        "DRBD 8.4.x is needed, and this node's kernel module is 9.1.12",
        node_prints(MODULE, IDLE.replace("8.4.11", "9.1.12")),
        cluster_with(**WITH_MIRRORS),
    ),
    ClusterFault(
        VerifyCode.ENODEDRBD,
        "a minor is nobody's",
        "DRBD minor 0 is in use, and no disk has it",
        node_prints(MODULE, PROC),
        cluster_with(**WITH_MIRRORS),
    ),
    ClusterFault(
        VerifyCode.ENODEDRBDHELPER,
        "the module calls another program",
        "usermode helper is /sbin/drbdadm, the cluster's /bin/true",
        node_prints(HELPER, "/sbin/drbdadm\n"),
        cluster_with(**WITH_MIRRORS),
    ),
    ClusterFault(
        VerifyCode.ENODEDRBDVERSION,
        "the module is an older one",
        "DRBD version is 8.4.7, that of node node1.example.com 8.4.11",
        node_prints(MODULE, IDLE.replace("8.4.11", "8.4.7")),
        cluster_with(**WITH_MIRRORS),
        warning=True,
    ),
)
