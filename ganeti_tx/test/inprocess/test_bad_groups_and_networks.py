"""What cannot be, over all operations on node groups and networks: its code, one line that says why, and nothing is changed."""

from collections.abc import Mapping, Sequence

from ganeti_tx.errors import ECode
from ganeti_tx.test.inprocess.bad_requests import Bad, BadRequestCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

INVAL, STATE, NOENT, EXISTS = ECode.INVAL, ECode.STATE, ECode.NOENT, ECode.EXISTS
ADD = "gnt-instance add -H fake -o noop --no-name-check --no-ip-check --no-start"
RANGE = "--network=10.7.0.0/29"
SPECS = "cpu-count={0},disk-count={0},disk-size={0},memory-size={0},nic-count={0},spindle-use={0}"
#: A mirrored instance on the first two nodes; one of the third, which is a group, with an address of a network.
BEFORE = (
    "gnt-group add rack2",
    "gnt-group assign-nodes rack2 node3",
    "gnt-network add --network=10.7.0.0/29 --gateway=10.7.0.1 --network6=2001:db8::/64 --gateway6=2001:db8::1 lan",
    "gnt-network add --network=10.8.0.0/24 wan",
    "gnt-network connect -N mode=routed,link=1 lan rack2",
    f"{ADD} -t drbd -s 1G --no-wait-for-sync -n node1:node2 web1",
    f"{ADD} -t diskless --net 0:network=lan,ip=10.7.0.2 -n node3 web2",
    f"{ADD} -t diskless --net 0:mode=routed,link=1,ip=10.8.0.9 -n node3 web3",
)

GROUPS: Mapping[str, Sequence[Bad]] = {
    "no such thing": (
        Bad(
            NOENT,
            "nosuch",
            [
                "modify --alloc-policy=preferred nosuch",
                "rename nosuch x",
                "remove nosuch",
                "assign-nodes nosuch node3",
                "evacuate nosuch",
                "evacuate --to nosuch default",
                "list nosuch",
                "list-tags nosuch",
                "add-tags nosuch x",
                "remove-tags nosuch x",
                "gnt-node modify -g nosuch node3",
                "gnt-cluster modify --default-group nosuch",
                f"{ADD} -t diskless -I hail -g nosuch web9",
                "gnt-network connect lan nosuch",
                "gnt-network disconnect lan nosuch",
            ],
        ),
        Bad(NOENT, "Node 'nosuch' not known", ["assign-nodes rack2 nosuch", "assign-nodes rack2 node3 nosuch"]),
        Bad(NOENT, "Node group name nosuch not found", ["gnt-node list -g nosuch", "gnt-node info -g nosuch"]),
        Bad(NOENT, "Tag(s) 'x' not found", ["remove-tags rack2 x"]),
    ),
    "it is there already": (
        Bad(EXISTS, "already exists as a node group", ["add rack2", "add RACK2"]),
        Bad(EXISTS, "clashes with existing node group", ["rename rack2 default", "rename default RACK2"]),
    ),
    "in use": (
        Bad(STATE, "not empty, has the following nodes: node3.example.com", ["remove rack2"]),
        Bad(STATE, "not empty, has the following nodes: node1.example.com", ["remove default"]),
        Bad(STATE, "get split by this change and --force was not given: web1", ["assign-nodes rack2 node2"]),
        Bad(STATE, "get split by this change and --force was not given: web1", ["gnt-node modify -g rack2 node1"]),
        Bad(
            STATE,
            "instance web2 cannot come to another node group: default is not connected to network lan",
            ["evacuate rack2", "evacuate --to default rack2", "gnt-instance change-group --to default web2"],
        ),
        Bad(
            STATE,
            "NICs in networks that group default is not connected to, and --force was not given: web2",
            ["assign-nodes default node3", "gnt-node modify -g default node3"],
        ),
    ),
    "out of range": (
        Bad(INVAL, "characters", [f"add {'x' * 300}", f"rename rack2 {'x' * 300}"]),
        Bad(
            INVAL,
            "expected one of last_resort, preferred, unallocable",
            ["add --alloc-policy=bogus x", "modify --alloc-policy=x rack2"],
        ),
        Bad(INVAL, "diskparams.file.x: unknown parameter", ["add -D file:x=1 x", "modify -D file:x=1 rack2"]),
        Bad(INVAL, "expected one of blockdev, diskless", ["add -D nosuch:a=1 x", "modify -D nosuch:a=1 rack2"]),
        Bad(
            INVAL,
            "ndparams.ssh_port: must be a port from 1 to 65535",
            ["add --node-parameters ssh_port=0 x", "modify --node-parameters ssh_port=70000 rack2"],
        ),
        Bad(
            INVAL, "at least 1, got 0.5", ["add --ipolicy-vcpu-ratio=0.5 x", "modify --ipolicy-spindle-ratio=0.5 rack2"]
        ),
        Bad(
            INVAL,
            "must be between 0 and the maximum 4, got 12",
            [
                f"{verb} --ipolicy-bounds-specs min:{SPECS.format(9)}/max:{SPECS.format(2)} {name}"
                for verb, name in (("add", "x"), ("modify", "rack2"))
            ],
        ),
        Bad(
            INVAL,
            "Invalid instance policy",
            ["add --ipolicy-disk-templates=bogus x", "modify --ipolicy-disk-templates=bogus rack2"],
        ),
        Bad(
            INVAL,
            "not enabled on the cluster: rbd",
            ["add --ipolicy-disk-templates=rbd x", "modify --ipolicy-disk-templates=rbd rack2"],
        ),
        Bad(INVAL, "in disk state: file", ["add --disk-state file:a=1 x", "modify --disk-state file:a=1 rack2"]),
        Bad(
            INVAL,
            "in hypervisor state: no",
            ["add --hypervisor-state no:a=1 x", "modify --hypervisor-state no:a=1 rack2"],
        ),
        Bad(INVAL, "no nodes were given", ["assign-nodes rack2"]),
        Bad(
            INVAL,
            "can not be used as a target group",
            ["evacuate --to rack2 rack2", "evacuate --to rack2 --to default default"],
        ),
        Bad(INVAL, "no cluster-wide default iallocator", ["evacuate --to rack2 default"]),
    ),
}

NETWORKS: Mapping[str, Sequence[Bad]] = {
    "no such thing": (
        Bad(
            NOENT,
            "nosuch",
            [
                "modify --gateway=10.7.0.3 nosuch",
                "rename nosuch x",
                "remove nosuch",
                "connect nosuch",
                "connect nosuch rack2",
                "disconnect nosuch",
                "disconnect nosuch rack2",
                "list nosuch",
                "list-tags nosuch",
                "add-tags nosuch x",
                f"{ADD} -t diskless --net 0:network=nosuch,ip=pool -n node3 web9",
                "gnt-instance modify --net 0:network=nosuch,ip=pool web3",
                "gnt-instance modify --net add:network=nosuch web3",
            ],
        ),
        Bad(NOENT, "Tag(s) 'x' not found", ["remove-tags lan x"]),
    ),
    "it is there already": (
        Bad(
            EXISTS,
            "already exists as a network",
            [f"add {RANGE} lan", f"add {RANGE} LAN", "rename wan lan", "rename lan WAN"],
        ),
        Bad(
            ECode.NOTUNIQUE,
            "of network lan is taken",
            [
                f"{ADD} -t diskless --net 0:network=lan,ip=10.7.0.2 -n node3 web9",
                "gnt-instance modify --net 0:network=lan,ip=10.7.0.2 web3",
            ],
        ),
        Bad(
            ECode.NOTUNIQUE,
            "not available in network lan: another NIC has it",
            ["gnt-instance modify --net add:network=lan,ip=10.7.0.2 web2"],
        ),
    ),
    "in use": (
        Bad(STATE, "Network still connected", ["remove lan"]),
        Bad(STATE, "Conflicting IP addresses found", ["disconnect lan rack2", "disconnect lan"]),
        Bad(STATE, "Conflicting IP addresses found", ["connect -N mode=routed,link=1 wan rack2"]),
        Bad(STATE, "Gateway IP address '10.7.0.2' is already reserved", ["modify --gateway=10.7.0.2 lan"]),
        Bad(
            STATE,
            "belongs to network lan, but the target NIC does not",
            [
                "gnt-instance modify --net 0:ip=10.7.0.5 web3",
                "gnt-instance modify --net add:mode=routed,link=1,ip=10.7.0.5 web3",
            ],
        ),
        Bad(
            STATE,
            "is not connected",
            [
                f"{ADD} -t diskless --net 0:network=lan,ip=pool -n node1 web9",
                f"{ADD} -t diskless --net 0:network=wan,ip=pool -n node3 web9",
                "gnt-instance modify --net 0:network=wan,ip=pool web3",
                "gnt-instance modify --net add:network=lan,ip=pool web1",
            ],
        ),
    ),
    "out of range": (
        Bad(INVAL, "characters", [f"add {RANGE} {'x' * 300}", f"rename lan {'x' * 300}"]),
        Bad(INVAL, "The --network option must be given", ["add x"]),
        Bad(
            INVAL,
            "expected an IPv4 network",
            [
                "add --network=10.9.0.0 x",
                "add --network=10.9.0.0/33 x",
                "add --network=bogus x",
                "add --network=fd00::/64 x",
            ],
        ),
        Bad(
            INVAL,
            "has host bits set",
            [
                "add --network=10.9.0.1/24 x",
                f"add {RANGE} --network6=2001:db8::1/64 x",
                "modify --network6=2001:db8::1/64 lan",
            ],
        ),
        Bad(
            INVAL,
            "smaller than a /30, the smallest allowed",
            ["add --network=10.9.0.0/31 x", "add --network=10.9.0.0/32 x"],
        ),
        Bad(
            INVAL,
            "larger than a /16, the largest allowed",
            ["add --network=10.0.0.0/15 x", "add --network=10.0.0.0/8 x"],
        ),
        Bad(
            INVAL,
            "does not contain 10.9.0.1",
            [
                f"add {RANGE} --gateway=10.9.0.1 x",
                "modify --gateway=10.9.0.1 lan",
                f"add {RANGE} --add-reserved-ips=10.9.0.1 x",
            ],
        ),
        Bad(
            INVAL,
            "expected an IPv4 address",
            [
                f"add {RANGE} --gateway=bogus x",
                "modify --gateway=none lan",
                f"add {RANGE} --add-reserved-ips=bogus x",
                "modify --remove-reserved-ips=bogus lan",
            ],
        ),
        Bad(
            INVAL, "expected an IPv6 network", [f"add {RANGE} --network6=bogus x", "modify --network6=10.0.0.0/24 lan"]
        ),
        Bad(INVAL, "expected an IPv6 address", [f"add {RANGE} --gateway6=10.0.0.1 x", "modify --gateway6=bogus lan"]),
        Bad(
            INVAL,
            "does not contain gateway6",
            [f"add {RANGE} --network6=fd00::/64 --gateway6=fd01::1 x", "modify --gateway6=fd01::1 lan"],
        ),
        Bad(INVAL, "needs network6", [f"add {RANGE} --gateway6=fd01::1 x", "modify --gateway6=fd01::1 wan"]),
        Bad(INVAL, "must have the form aa:bb:cc", [f"add {RANGE} --mac-prefix=zz x", "modify --mac-prefix=zz lan"]),
        Bad(INVAL, "expected one of bridged, openvswitch", ["connect -N mode=bogus,link=br0 wan default"]),
        Bad(INVAL, "pool is no way to reach a network", ["connect -N mode=pool,link=br0 wan default"]),
        Bad(
            INVAL,
            "vlan",
            [
                "connect -N mode=bridged,link=br0,vlan=bogus wan default",
                "connect -N mode=bridged,link=br0,vlan=.4095 wan default",
            ],
        ),
        Bad(
            ECode.NOTUNIQUE,
            "no host can have 10.7.0.0",
            [
                "gnt-instance modify --net 0:ip=10.7.0.0 web2",
                "gnt-instance modify --net 0:network=lan,ip=10.7.0.0 web3",
            ],
        ),
        Bad(
            ECode.NOTUNIQUE,
            "is reserved for others",
            [
                "gnt-instance modify --net 0:ip=10.7.0.1 web2",
                f"{ADD} -t diskless --net 0:network=lan,ip=10.7.0.1 -n node3 web9",
            ],
        ),
        Bad(
            ECode.NOTUNIQUE,
            "is not in network lan",
            [
                "gnt-instance modify --net 0:ip=10.9.0.1 web2",
                f"{ADD} -t diskless --net 0:network=lan,ip=10.9.0.1 -n node3 web9",
            ],
        ),
    ),
}


class BadGroupTests(BadRequestCase):
    """All of it, in a cluster that mirrors disks."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, _wire = mirrored_cluster(3, seed)
        self.addCleanup(cluster.end)
        return cluster

    def check_table(self, program: str, table: Mapping[str, Sequence[Bad]]) -> None:
        """Each request of a table, which is about a program where it names none."""
        self.program = program
        for line in BEFORE:
            self.ok(line)
        for condition, bad in table.items():
            self.check_all(condition, bad)

    def test_groups(self) -> None:
        """gnt-group, and what else names a group."""
        self.check_table("gnt-group", GROUPS)

    def test_networks(self) -> None:
        """gnt-network, and what else names a network."""
        self.check_table("gnt-network", NETWORKS)

    def test_nothing_free(self) -> None:
        """A network gives what it has, and no more."""
        for line in BEFORE:
            self.ok(line)
        self.ok("gnt-network modify --add-reserved-ips=10.7.0.3,10.7.0.4,10.7.0.5,10.7.0.6 lan")
        for line in (
            f"{ADD} -t diskless --net 0:network=lan,ip=pool -n node3 web9",
            "gnt-instance modify --net 0:network=lan,ip=pool web3",
            "gnt-instance modify --net add:network=lan,ip=pool web2",
        ):
            self.check("full", Bad(ECode.NORES, "network lan has no free address", [line]), line)
