"""Faults of a cluster, one for each code of verification: what somebody, or something, does to it."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.inprocess.case import scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node import keys_of
from ganeti_tx.test.inprocess.test_mirrored import with_mirrored_instance
from ganeti_tx.test.logic.stage import INSTANCE

Prepare = Callable[[ConfigData], ConfigData]
ADD = "gnt-instance add -t file -s 1G -o noop -n node2 --no-wait-for-sync web1"
RUNNING = b'{"id": 9, "memory": 128, "vcpus": 1, "started": 0.0}'
SECOND_NETWORK = "198.51.100.3"


@frozen
class ClusterFault:
    """What is done, to the configuration that a cluster begins with or to the cluster that runs, and what is said of it.

    @ivar what: for people.
    """

    what: str
    said: str
    do: Callable[[InProcessCluster], object] = lambda cluster: None
    prepare: Prepare = lambda config: config


def run(cluster: InProcessCluster, *lines: str) -> None:
    """Commands that succeed."""
    for line in lines:
        scene_of(cluster).ok(line)


def cluster_with(**settings: Any) -> Prepare:
    """A cluster with other settings than the rules allow, or than a command would give it."""
    return lambda config: replace(config, cluster=replace(config.cluster, **settings))


def larger_disk(cluster: InProcessCluster) -> None:
    """A node has more than the others."""
    node = cluster.node(2).mirror_node
    assert node is not None
    node.volumes.total = 1 << 21


def lose_group(cluster: InProcessCluster) -> None:
    """A node loses its volume group."""
    node = cluster.node(2).mirror_node
    assert node is not None
    node.volumes.lost.add("xenvg")


def other_module(**facts: Any) -> Callable[[InProcessCluster], None]:
    """What makes the mirrors of a node is otherwise."""

    def change(cluster: InProcessCluster) -> None:
        node = cluster.node(2).mirror_node
        assert node is not None
        for name, value in facts.items():
            setattr(node.mirrors, name, value)

    return change


def node_with(number: int, **fields: Any) -> Prepare:
    """One node is different."""

    def prepare(config: ConfigData) -> ConfigData:
        (node,) = (each for each in config.nodes.values() if each.name.startswith(f"node{number}."))
        return replace(config, nodes={**config.nodes, node.uuid: replace(node, **fields)})

    return prepare


def mirrored(*more: Prepare, **fields: Any) -> Prepare:
    """There is a mirrored instance on the second and third node, with some fields of its own."""

    def prepare(config: ConfigData) -> ConfigData:
        config = with_mirrored_instance(config)
        config = replace(config, instances={INSTANCE.uuid: replace(config.instances[INSTANCE.uuid], **fields)})
        for each in more:
            config = each(config)
        return config

    return prepare


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


def without_disk(cluster: InProcessCluster) -> None:
    """Somebody removes the file of a disk."""
    run(cluster, ADD)
    cluster.node(2).files_storage.disks.clear()


def stray_file(cluster: InProcessCluster) -> None:
    """A file is in the pool that is no instance's."""
    cluster.node(2).files_storage.disks["loop//srv/ganeti/file-storage/ghost/disk0"] = FakeDisk(1)


def same_tags(cluster: InProcessCluster) -> None:
    """Two instances that should be apart are on one node."""
    run(cluster, "gnt-cluster add-tags htools:iextags:web", ADD, ADD.replace("web1", "web2"))
    run(cluster, "gnt-instance add-tags web1 web:1", "gnt-instance add-tags web2 web:1")


def foreign_certificate(cluster: InProcessCluster) -> None:
    """A node shows the certificate of another."""
    other = cluster.node(3)
    put(cluster.node(2).disk, cluster.paths.client_pem, keys_of(other.name, other.address).client.bundle)


def other_version(cluster: InProcessCluster) -> None:
    """A node was not upgraded."""
    node = cluster.node(3)
    node.stop()
    node.versions = (2000000, "2.16.2")
    node.start()


def failing_hook(cluster: InProcessCluster) -> None:
    """A script fails on one node."""
    script = cluster.paths.hooks_dir / "cluster-verify-post.d" / "check"
    for node in cluster.members:
        put(node.disk, script, b"#!/bin/sh\n", 0o755)
    cluster.node(2).scripts.script([str(script)], ProcessResult(status=1, stdout=b"the fan is loud\n"))


def bad_ssh(cluster: InProcessCluster) -> None:
    """A node does not let root of the others in."""
    for node in cluster.members:
        node.scripts.script(["ssh"], ProcessResult(status=255, stderr=b"Permission denied (publickey).\n"))


def with_ssh(config: ConfigData) -> ConfigData:
    """The nodes take part in the cluster's SSH set-up."""
    keys = {f"ssh-{kind}:{uuid}": "ssh-rsa AAAA" for uuid in config.nodes for kind in ("host", "root")}
    certs = {**config.cluster.candidate_certs, **keys}
    return replace(config, cluster=replace(config.cluster, candidate_certs=certs, modify_ssh_setup=True))


def wrong_hosts(cluster: InProcessCluster) -> None:
    """The hosts file of a node leads elsewhere."""
    put(cluster.node(2).disk, cluster.paths.etc_hosts, b"192.0.2.77 node3.example.com\n")


def other_rack(cluster: InProcessCluster) -> None:
    """A node of a mirrored instance goes into another group."""
    run(cluster, "gnt-group add rack2", "gnt-group assign-nodes --force rack2 node3")


def lists(cluster: InProcessCluster, text: bytes) -> None:
    """The administrator of a node allows other directories for file storage."""
    put(cluster.node(2).disk, cluster.paths.file_storage_paths_file, text)


EXCLUSIVE = {"exclusive_storage": True}
FAULTS: Mapping[VerifyCode, ClusterFault] = {
    VerifyCode.ECLUSTERCERT: ClusterFault(
        "a certificate is overwritten",
        "server.pem has no certificate",
        lambda cluster: put(cluster.master.disk, cluster.paths.server_pem, b"nonsense"),
    ),
    VerifyCode.ECLUSTERCFG: ClusterFault(
        "the pool of candidates is of size 0", "candidate pool size 0", prepare=cluster_with(candidate_pool_size=0)
    ),
    VerifyCode.ECLUSTERCLIENTCERT: ClusterFault(
        "a node shows another's certificate", "Client certificate digest of master candidate", foreign_certificate
    ),
    VerifyCode.ECLUSTERDANGLINGINST: ClusterFault(
        "an instance's node is not configured",
        "instances have a non-existing primary-node: web1.example.com",
        prepare=mirrored(primary_node="lost-uuid"),
    ),
    VerifyCode.ECLUSTERDANGLINGNODES: ClusterFault(
        "a node's group is not configured",
        "belong to a non existing group: node3.example.com",
        prepare=node_with(3, group="lost-uuid"),
    ),
    VerifyCode.ECLUSTERFILECHECK: ClusterFault(
        "a key is on the master only",
        "hmac.key is missing from node(s)",
        lambda cluster: put(cluster.master.disk, cluster.paths.hmac_key, b"secret"),
    ),
    VerifyCode.EEXTAGS: ClusterFault("two instances with an exclusion tag on a node", "['web:1']", same_tags),
    VerifyCode.EINSTANCEBADNODE: ClusterFault(
        "the secondary node is offline",
        "offline secondary node(s) node3.example.com",
        prepare=mirrored(node_with(3, offline=True, master_candidate=False)),
    ),
    VerifyCode.EINSTANCEDOWN: ClusterFault("an instance dies", "not running on its primary node node2", stopped),
    VerifyCode.EINSTANCEFAULTYDISK: ClusterFault(
        "the file of a disk is removed", "couldn't retrieve status for disk/0 on node2", without_disk
    ),
    VerifyCode.EINSTANCELAYOUT: ClusterFault(
        "the disks have different secondary nodes", "multiple secondary nodes", prepare=second_secondary
    ),
    VerifyCode.EINSTANCEMISSINGCFGPARAMETER: ClusterFault(
        "exclusive storage, and disks without spindles",
        "number of spindles not configured for disk/0",
        prepare=mirrored(cluster_with(ndparams=EXCLUSIVE)),
    ),
    VerifyCode.EINSTANCEMISSINGDISK: ClusterFault(
        "the volumes of a mirror are gone", "missing on node2.example.com", prepare=mirrored()
    ),
    VerifyCode.EINSTANCEPOLICY: ClusterFault(
        "an instance is larger than its group allows",
        "memory-size value",
        prepare=mirrored(beparams={"minmem": 40000, "maxmem": 40000}),
    ),
    VerifyCode.EINSTANCESPLITGROUPS: ClusterFault(
        "a node goes to another group", "in different groups: default, rack2", other_rack, mirrored()
    ),
    VerifyCode.EINSTANCEUNSUITABLENODE: ClusterFault(
        "exclusive storage, and mirrors",
        "template drbd, which is not supported",
        prepare=mirrored(cluster_with(ndparams=EXCLUSIVE)),
    ),
    VerifyCode.EINSTANCEWRONGNODE: ClusterFault(
        "an instance runs on two nodes", "should not run on node node3.example.com", elsewhere
    ),
    VerifyCode.ENODEFILECHECK: ClusterFault(
        "a node's configuration is spoilt",
        "has no configuration",
        lambda cluster: put(cluster.node(3).disk, cluster.paths.config_file, b"{}"),
    ),
    VerifyCode.ENODEFILESTORAGEPATHS: ClusterFault(
        "a system directory is listed for disks", "/etc", lambda cluster: lists(cluster, b"/etc\n")
    ),
    VerifyCode.ENODEFILESTORAGEPATHUNUSABLE: ClusterFault(
        "the directory is not listed",
        "The configured file storage path is unusable",
        lambda cluster: lists(cluster, b"/srv/elsewhere\n"),
    ),
    VerifyCode.ENODEHOOKS: ClusterFault(
        "a script fails", "Script cluster-verify-post.d/check failed, output:", failing_hook
    ),
    VerifyCode.ENODEHV: ClusterFault(
        "a hypervisor is enabled whose programs are not installed",
        "hypervisor kvm verify failure",
        prepare=cluster_with(enabled_hypervisors=(Hypervisor.FAKE, Hypervisor.KVM)),
    ),
    VerifyCode.ENODEN1: ClusterFault(
        "a large instance could not fail over",
        "not enough memory to accommodate instance failovers should node node2.example.com fail (40000MiB needed",
        prepare=mirrored(beparams={"minmem": 40000, "maxmem": 40000}),
    ),
    VerifyCode.ENODENET: ClusterFault(
        "the second network of a node is down",
        "node 'node3.example.com': failure using the secondary interface(s)",
        lambda cluster: cluster.network.cut_off.add(SECOND_NETWORK),
        node_with(3, secondary_ip=SECOND_NETWORK),
    ),
    VerifyCode.ENODEOOBPATH: ClusterFault(
        "the program that powers nodes is missing",
        "out of band helper: /nosuch: No such file",
        prepare=cluster_with(ndparams={"oob_program": "/nosuch"}),
    ),
    VerifyCode.ENODEORPHANINSTANCE: ClusterFault(
        "an instance was started by hand",
        "unknown instance ghost.example.com",
        lambda cluster: runs(cluster, 2, "ghost.example.com"),
    ),
    VerifyCode.ENODEORPHANLV: ClusterFault("a file of nobody's in the pool", "ghost/disk0 is unknown", stray_file),
    VerifyCode.ENODEOS: ClusterFault(
        "an OS is on one node only",
        "Extra OS extra not present on reference node (node1.example.com)",
        lambda cluster: cluster.node(2).add_os("extra"),
    ),
    VerifyCode.ENODERPC: ClusterFault(
        "a node daemon is down", "while contacting node: cannot reach", lambda cluster: cluster.node(3).stop()
    ),
    VerifyCode.ENODESETUP: ClusterFault(
        "a hosts file is wrong",
        "/etc/hosts has the address 192.0.2.77 for node3",
        wrong_hosts,
        cluster_with(modify_etc_hosts=True),
    ),
    VerifyCode.ENODESHAREDFILESTORAGEPATHUNUSABLE: ClusterFault(
        "the shared directory is not listed",
        "The configured sharedfile storage path is unusable",
        lambda cluster: lists(cluster, b"/srv/ganeti/file-storage\n"),
        cluster_with(enabled_disk_templates=(DiskTemplate.FILE, DiskTemplate.SHAREDFILE)),
    ),
    VerifyCode.EGROUPDIFFERENTPVSIZE: ClusterFault(
        "a node got a larger disk",
        "biggest (2097152 MB) is on node2.example.com",
        larger_disk,
        cluster_with(
            enabled_disk_templates=(DiskTemplate.PLAIN,),
            volume_group_name="xenvg",
            ndparams={"exclusive_storage": True},
        ),
    ),
    VerifyCode.ENODELVM: ClusterFault(
        "the volume group is lost",
        "volume group 'xenvg' is not on this node",
        lose_group,
        cluster_with(enabled_disk_templates=(DiskTemplate.PLAIN,), volume_group_name="xenvg"),
    ),
    VerifyCode.ENODEDRBD: ClusterFault(
        "the module is a later one",
        "DRBD 8.4.x is needed, and this node's kernel module is 9.1.12",
        other_module(fault="DRBD 8.4.x is needed, and this node's kernel module is 9.1.12"),
        cluster_with(enabled_disk_templates=(DiskTemplate.DRBD,)),
    ),
    VerifyCode.ENODEDRBDHELPER: ClusterFault(
        "the module calls another program",
        "usermode helper is /sbin/drbdadm, the cluster's /bin/true",
        other_module(helper="/sbin/drbdadm"),
        cluster_with(enabled_disk_templates=(DiskTemplate.DRBD,)),
    ),
    VerifyCode.ENODEDRBDVERSION: ClusterFault(
        "the module is an older one",
        "DRBD version is 8.4.7, that of node node1.example.com 8.4.11",
        other_module(version="8.4.7"),
        cluster_with(enabled_disk_templates=(DiskTemplate.DRBD,)),
    ),
    VerifyCode.ENODESSH: ClusterFault("nobody is let in", "Permission denied (publickey).", bad_ssh, with_ssh),
    VerifyCode.ENODETIME: ClusterFault(
        "a clock is wrong",
        "Node time diverges by at least 1001.0s",
        lambda cluster: setattr(cluster.node(3), "clock_error", 1001.0),
    ),
    VerifyCode.ENODEUSERSCRIPTS: ClusterFault(
        "the script for the cluster's address is missing",
        "user scripts not present or not executable: /etc/ganeti/scripts/master-ip-setup",
        prepare=cluster_with(use_external_mip_script=True),
    ),
    VerifyCode.ENODEVERSION: ClusterFault(
        "a node was not upgraded", "incompatible protocol versions: master 3000001, node 2000000", other_version
    ),
}
#: What can go wrong only with drivers that are not built, by the template that they serve.
OF_DRIVERS: Mapping[VerifyCode, DiskTemplate] = {
    VerifyCode.ENODEGLUSTERSTORAGEPATHUNUSABLE: DiskTemplate.GLUSTER,
}
