"""Faults of nodes: how they answer, what they are set up with, whom they reach, and what they have for instances."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.runtime.path_modes import USERS
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.node import MASTER_IP, OS_NAME
from ganeti_tx.test.inprocess.out_of_band import PROGRAM, PowerProgram
from ganeti_tx.test.inprocess.verify_faults.fault import ADD, ClusterFault, cluster_with, mirrored, node_with, run

SECOND_NETWORK = "198.51.100.3"
FIRST_OS = "node1.example.com"


def version(protocol: int, release: str) -> Callable[[InProcessCluster], None]:
    """A node runs another version."""

    def do(cluster: InProcessCluster) -> None:
        node = cluster.node(3)
        node.stop()
        node.versions = (protocol, release)
        node.start()

    return do


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


def former_key(cluster: InProcessCluster) -> None:
    """A key that the cluster has put there once is left on a node, and its hosts are forgotten on another."""
    place = cluster.paths.root_authorized_keys
    keys = cluster.node(2).disk.read(place, 1 << 20)
    put(cluster.node(2).disk, place, keys + b"ssh-rsa FORMER root@node9.example.com (ganeti_tx)\n", 0o600)
    put(cluster.node(3).disk, cluster.paths.known_hosts, b"")


def wrong_hosts(cluster: InProcessCluster) -> None:
    """The hosts file of a node leads elsewhere."""
    put(cluster.node(2).disk, cluster.paths.etc_hosts, b"192.0.2.77 node3.example.com\n")


def open_key(cluster: InProcessCluster) -> None:
    """Everybody on a node whose daemons have users of their own can read its key."""
    node = cluster.node(3)
    node.users = dict.fromkeys(USERS.values(), 0)
    node.disk.set_mode(cluster.paths.server_pem, 0o666)


def of_os(number: int, file: str, text: bytes) -> Callable[[InProcessCluster], object]:
    """A file of the OS definition is another one on a node."""
    return lambda cluster: put(cluster.node(number).disk, cluster.paths.os_search_path[0] / OS_NAME / file, text)


def untrusted_os(cluster: InProcessCluster) -> None:
    """The script that installs an OS is for a helper machine on one node."""
    disk, place = cluster.node(2).disk, cluster.paths.os_search_path[0] / OS_NAME
    disk.rename(place / "create", place / "create_untrusted")


def extra_os(cluster: InProcessCluster) -> None:
    """An OS is installed on all nodes but one."""
    for number in (1, 2):
        cluster.node(number).add_os("extra")


def no_bridge(cluster: InProcessCluster) -> None:
    """A bridge is taken down."""
    run(cluster, ADD)
    cluster.node(2).disk.remove_tree(Path("/sys/class/net/xen-br0"))


def no_power(cluster: InProcessCluster) -> None:
    """The power of a node is switched off by hand, though its daemon still answers."""
    PowerProgram(cluster).off.add(3)


def with_qemu(cluster: InProcessCluster) -> None:
    """QEMU is installed on all nodes."""
    for node in cluster.members:
        put(node.disk, Path("/usr/bin/kvm"), b"", 0o755)


def lists(text: bytes) -> Callable[[InProcessCluster], object]:
    """The administrator of a node allows other directories for file storage."""
    return lambda cluster: put(cluster.node(2).disk, cluster.paths.file_storage_paths_file, text)


def other_provider(cluster: InProcessCluster) -> None:
    """A provider of external storage is on one node only."""
    cluster.node(2).add_provider("rack")


FAULTS = (
    ClusterFault(
        VerifyCode.ENODERPC,
        "a node daemon is down",
        "while contacting node: cannot reach",
        lambda cluster: cluster.node(3).stop(),
    ),
    ClusterFault(
        VerifyCode.ENODEVERSION,
        "a node was not upgraded",
        f"incompatible protocol versions: master {NODE_PROTOCOL_VERSION}, node 2000000",
        version(2000000, "2.16.2"),
    ),
    ClusterFault(
        VerifyCode.ENODEVERSION,
        "a node has another release that speaks alike",
        "software version mismatch: master",
        version(NODE_PROTOCOL_VERSION, "0.0.9"),
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ENODETIME,
        "a clock is wrong",
        "Node time diverges by at least 1001.0s",
        lambda cluster: setattr(cluster.node(3), "clock_error", 1001.0),
    ),
    ClusterFault(
        VerifyCode.ENODESETUP,
        "a hosts file is wrong",
        "/etc/hosts has the address 192.0.2.77 for node3",
        wrong_hosts,
        cluster_with(modify_etc_hosts=True),
    ),
    ClusterFault(
        VerifyCode.ENODESETUP,
        "everybody can read and write a private key",
        "/var/lib/ganeti/server.pem has mode 0666, not 0440",
        open_key,
    ),
    ClusterFault(
        VerifyCode.ENODEUSERSCRIPTS,
        "the script for the cluster's address is missing",
        "user scripts not present or not executable: /etc/ganeti/scripts/master-ip-setup",
        prepare=cluster_with(use_external_mip_script=True),
    ),
    ClusterFault(
        VerifyCode.ENODEUSERSCRIPTS,
        "a provider of external storage is on one node only",
        "storage provider rack is on node node2.example.com and missing on this node",
        other_provider,
        cluster_with(enabled_disk_templates=(DiskTemplate.EXT,)),
    ),
    ClusterFault(
        VerifyCode.ENODEOOBPATH,
        "the program that powers nodes is missing",
        "out of band helper: /nosuch: No such file",
        prepare=cluster_with(ndparams={"oob_program": "/nosuch"}),
    ),
    ClusterFault(
        VerifyCode.ENODEOOBPATH,
        "a node has no power, though recorded is that it has",
        "is off, but recorded is that it is on",
        no_power,
        cluster_with(ndparams={"oob_program": PROGRAM}),
        warning=True,
    ),
    ClusterFault(VerifyCode.ENODESSH, "nobody is let in", "Permission denied (publickey).", bad_ssh, with_ssh),
    ClusterFault(
        VerifyCode.ENODESSH,
        "the key of a node that is gone is still let in",
        "root is let in by a key of root@node9.example.com that is no master candidate's",
        former_key,
        with_ssh,
        warning=True,
    ),
    ClusterFault(
        VerifyCode.ENODESSH,
        "a node does not know the others' hosts",
        "/var/lib/ganeti/known_hosts is not as the cluster has it",
        former_key,
        with_ssh,
    ),
    ClusterFault(
        VerifyCode.ENODEFILECHECK,
        "a node's configuration is spoilt",
        "has no configuration",
        lambda cluster: put(cluster.node(3).disk, cluster.paths.config_file, b"{}"),
    ),
    ClusterFault(
        VerifyCode.ENODEHOOKS, "a script fails", "Script cluster-verify-post.d/check failed, output:", failing_hook
    ),
    ClusterFault(
        VerifyCode.ENODENET,
        "the second network of a node is down",
        "node 'node3.example.com': failure using the secondary interface(s)",
        lambda cluster: cluster.network.cut_off.add(SECOND_NETWORK),
        node_with(3, secondary_ip=SECOND_NETWORK),
    ),
    ClusterFault(
        VerifyCode.ENODENET,
        "nobody reaches the cluster's address, though the master has it",
        f"cannot reach the master IP {MASTER_IP}",
        lambda cluster: cluster.network.cut_off.add(MASTER_IP),
    ),
    ClusterFault(VerifyCode.ENODENET, "a bridge is taken down", "missing bridges: xen-br0", no_bridge),
    ClusterFault(
        VerifyCode.ENODEHV,
        "a hypervisor is enabled whose programs are not installed",
        "hypervisor kvm verify failure",
        prepare=cluster_with(enabled_hypervisors=(Hypervisor.FAKE, Hypervisor.KVM)),
    ),
    ClusterFault(
        VerifyCode.ENODEHV,
        "an instance's kernel is not on its node",
        "hypervisor kvm parameter verify failure (source instance web1.example.com): kernel_path: /nosuch is not on this node",
        with_qemu,
        mirrored(
            cluster_with(enabled_hypervisors=(Hypervisor.FAKE, Hypervisor.KVM)),
            hypervisor=Hypervisor.KVM,
            hvparams={"kernel_path": "/nosuch"},
        ),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS is on one node only",
        f"Extra OS extra not present on reference node ({FIRST_OS})",
        lambda cluster: cluster.node(2).add_os("extra"),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS is missing on a node",
        f"OSes present on reference node {FIRST_OS} but missing on this node: extra",
        extra_os,
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "the definition of an OS is broken",
        "Invalid OS noop (located at ",
        of_os(2, "ganeti_api_version", b"5\n"),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS speaks another version",
        "OS API version for noop differs from reference node node1.example.com: [10, 20] vs. [20]",
        of_os(2, "ganeti_api_version", b"20\n10\n"),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS has another variant",
        "OS variants list for noop differs from reference node node1.example.com: [tiny] vs. []",
        of_os(2, "variants.list", b"tiny\n"),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS has another parameter",
        "OS parameters for noop differs from reference node node1.example.com: ",
        of_os(2, "parameters.list", b"colour what it looks like\n"),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS is for one hypervisor only",
        "OS hypervisors for noop differs from reference node node1.example.com: [fake] vs. all",
        of_os(2, "hypervisors", b"fake\n"),
    ),
    ClusterFault(
        VerifyCode.ENODEOS,
        "an OS is not trusted to be installed on the node itself",
        "OS trusted for noop differs from reference node node1.example.com: False vs. True",
        untrusted_os,
    ),
    ClusterFault(VerifyCode.ENODEFILESTORAGEPATHS, "a system directory is listed for disks", "/etc", lists(b"/etc\n")),
    ClusterFault(
        VerifyCode.ENODEFILESTORAGEPATHUNUSABLE,
        "the directory is not listed",
        "The configured file storage path is unusable",
        lists(b"/srv/elsewhere\n"),
    ),
    ClusterFault(
        VerifyCode.ENODESHAREDFILESTORAGEPATHUNUSABLE,
        "the shared directory is not listed",
        "The configured sharedfile storage path is unusable",
        lists(b"/srv/ganeti/file-storage\n"),
        cluster_with(enabled_disk_templates=(DiskTemplate.FILE, DiskTemplate.SHAREDFILE)),
    ),
    ClusterFault(
        VerifyCode.ENODEGLUSTERSTORAGEPATHUNUSABLE,
        "the directory for volumes of Gluster is not listed",
        "The configured gluster storage path is unusable",
        lists(b"/srv/ganeti/file-storage\n"),
        cluster_with(enabled_disk_templates=(DiskTemplate.FILE, DiskTemplate.GLUSTER)),
    ),
)
