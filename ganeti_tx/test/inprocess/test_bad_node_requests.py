"""What cannot be, over all operations on nodes: its code, one line that says what would help, and nothing is changed."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode
from ganeti_tx.test.inprocess.bad_requests import LATE, Bad, BadRequestCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

INVAL, STATE, NOENT, EXISTS, ENVIRON = ECode.INVAL, ECode.STATE, ECode.NOENT, ECode.EXISTS, ECode.ENVIRON
NOTUNIQUE, RESOLVER = ECode.NOTUNIQUE, ECode.RESOLVER
ADD = "gnt-instance add -H fake -o noop --no-name-check --no-ip-check --ignore-ipolicy"
#: node1 is the master, node2 a candidate with primary instances, node3 no candidate, with the second copy of one of them.
BEFORE = (
    f"{ADD} -t drbd -s 1G -n node2:node3 web1",
    f"{ADD} -t file -s 1G -n node2 web2",
    "gnt-cluster modify --candidate-pool-size=2",
    "gnt-node modify -C no node3",
    "gnt-group add rack2",
)
#: A machine that can become a node.
NEW = "node4.example.com"
MASTER = "'gnt-cluster master-failover'"

CONDITIONS: dict[str, tuple[Sequence[str], Sequence[Bad]]] = {
    "no such thing": (
        (),
        (
            Bad(
                NOENT,
                "nosuch",
                [
                    "remove nosuch", "modify -C yes nosuch", "modify -O yes nosuch", "modify -g default nosuch",
                    "modify --node-parameters ssh_port=22 nosuch", "migrate -f nosuch", "failover -f nosuch",
                    "powercycle --yes nosuch", "health nosuch", "list nosuch", "volumes nosuch", "list-storage nosuch",
                    "list-drbd nosuch", "list-tags nosuch", "add-tags nosuch t", "remove-tags nosuch t",
                    "evacuate -f -n nosuch node3",
                ],
            ),
            Bad(
                NOENT,
                "Node name nosuch not found",
                [
                    "power --force on nosuch", "power --force off nosuch", "power status nosuch",
                    "restricted-command any nosuch",
                ],
            ),
            Bad(NOENT, "group 'nosuch' not found", [f"add -g nosuch {NEW}", "modify -g nosuch node2"]),
            Bad(NOENT, "Node group name nosuch not found", ["restricted-command -g nosuch any"]),
            Bad(NOENT, "Tag(s) 'nosuch' not found", ["remove-tags node2 nosuch"]),
            Bad(NOENT, "is not in the cluster, so it cannot be added again", [f"add --readd {NEW}"]),
            Bad(RESOLVER, "cannot resolve 'nosuch.example.com': Name or service not known", [
                "add nosuch.example.com", "add --readd nosuch.example.com",
            ]),
            Bad(LATE, "'nosuch' not found in the search path", ["evacuate -f -p -I nosuch node2"]),
        ),
    ),
    "the master": (
        (),
        (
            Bad(
                INVAL,
                MASTER,
                [
                    "modify -C no node1", "modify -O yes node1", "modify -D yes node1", "modify --master-capable=no node1",
                    "modify -f -O yes --auto-promote node1",
                ],
            ),
            Bad(INVAL, "is the master and cannot be removed; 'gnt-cluster destroy'", ["remove node1"]),
            Bad(STATE, "is the master, which cannot be added again", ["add --readd node1"]),
            Bad(INVAL, "give --force (force) to reset it all the same", ["powercycle --yes node1"]),
        ),
    ),
    "clashes": (
        (),
        (
            Bad(EXISTS, "is already in the cluster", ["add node2", "add node1"]),
            Bad(NOTUNIQUE, "belongs to node node3.example.com already", [f"add -s 192.0.2.3 {NEW}", "modify -s 192.0.2.3 node2"]),
            Bad(
                NOTUNIQUE,
                "address 192.0.2.100 belongs to the cluster cluster.example.com itself",
                [f"add -s 192.0.2.100 {NEW}", "modify -s 192.0.2.100 node2", "modify -f -s 192.0.2.100 node2"],
            ),
            Bad(INVAL, "a node has one role; it cannot be", [
                "modify -O yes -D yes node2", "modify -C yes -O yes node2", "modify -C yes -D yes node3",
            ]),
            Bad(INVAL, "not master_capable cannot be a master candidate", ["modify -C yes --master-capable=no node3"]),
            Bad(INVAL, "keeps its group when it is added again", ["add --readd -g rack2 node3"]),
            Bad(INVAL, "all nodes must be alike", [f"add -s 198.51.100.4 {NEW}"]),
            Bad(INVAL, "give --force to change one node after the other", ["modify -s 198.51.100.4 node3"]),
            Bad(INVAL, "Only one of the --primary-only and --secondary-only", ["evacuate -f -p -s node2"]),
        ),
    ),
    "in use": (
        (),
        (
            Bad(INVAL, "still lives on node node2.example.com; remove or move it first", ["remove node2"]),
            Bad(INVAL, "still lives on node node3.example.com; remove or move it first", ["remove node3"]),
            Bad(STATE, "which must stay vm_capable", ["modify --vm-capable=no node2", "modify --vm-capable=no node3"]),
            Bad(
                STATE,
                "fewer master candidates than the 2 wanted",
                ["modify -C no node2", "modify -f -C no node2", "modify -D yes node2", "modify --master-capable=no node2"],
            ),
            Bad(STATE, "shut it down first", ["modify -f -s 198.51.100.4 node3"]),
        ),
    ),
    "not able": (
        ("gnt-node modify --master-capable=no node3",),
        (
            Bad(STATE, "is not master_capable, so it cannot be a master candidate", ["modify -C yes node3"]),
            Bad(STATE, "has no oob_program, so its power is not known", [
                "modify --node-powered=no node3", "modify --node-powered=yes node3",
            ]),
            Bad(ENVIRON, "does not have the secondary address 198.51.100.4", ["modify -f -s 198.51.100.4 node1"]),
            Bad(STATE, "No disk template of storage type 'gluster' is enabled", ["list-storage -t gluster"]),
        ),
    ),
    "offline or drained": (
        ("gnt-node modify -f -O yes --auto-promote node2", "gnt-node modify -D yes --auto-promote node3"),
        (
            Bad(STATE, "is offline; give --offline=no as well", ["modify -C yes node2"]),
            Bad(STATE, "is drained; give --drained=no as well", ["modify -C yes node3"]),
            Bad(STATE, "is offline, so its secondary address cannot be changed", ["modify -f -s 198.51.100.4 node2"]),
            Bad(STATE, "node3.example.com is drained", [f"{ADD} -t file -s 1G -n node3 web5"]),
            Bad(STATE, "offline node: node2.example.com", [f"{ADD} -t file -s 1G -n node2 web5"]),
        ),
    ),
    "does not answer": (
        ("gnt-node modify -O yes --auto-promote node3",),
        (
            Bad(ENVIRON, "node3.example.com", ["modify -O no node3", "modify -O no -C yes node3"]),
        ),
    ),
    "out of range": (
        (),
        (
            Bad(INVAL, "is no IP address", [f"add -s nowhere {NEW}", "modify -s nowhere node2", "modify -f -s 192.0.2.300 node2"]),
            Bad(INVAL, "ssh_port: must be a port from 1 to 65535, got ", [
                f"add --node-parameters ssh_port=0 {NEW}", "modify --node-parameters ssh_port=70000 node2",
                "modify --node-parameters ssh_port=-1 node2", "gnt-cluster modify --node-parameters ssh_port=0",
                "gnt-group modify --node-parameters ssh_port=65536 rack2", "gnt-group add --node-parameters ssh_port=0 rack3",
            ]),
            Bad(INVAL, "spindle_count: must be at least 0, got ", ["modify --node-parameters spindle_count=-1 node2"]),
            Bad(INVAL, "cpu_speed: must be above 0, got ", ["modify --node-parameters cpu_speed=0 node2"]),
            Bad(INVAL, "oob_program: must be an absolute path", ["modify --node-parameters oob_program=power node2"]),
            Bad(INVAL, "Invalid hypervisor(s) in hypervisor state: nosuch", [
                f"add --hypervisor-state nosuch:x=1 {NEW}", "modify --hypervisor-state nosuch:x=1 node2",
            ]),
            Bad(INVAL, "Invalid storage type(s) in disk state: file", [
                f"add --disk-state file:x=1 {NEW}", "modify --disk-state file:x=1 node2",
            ]),
            Bad(INVAL, "invalid tag 'a,b!'", ["add-tags node2 a,b!"]),
            Bad(INVAL, "allowed are 1 to 3600", [
                "power --force --oob-timeout=0 on node2", "power --oob-timeout=3601 status", "health --oob-timeout=-1 node2",
            ]),
            Bad(INVAL, "power_delay is -1.0 s; allowed are 0 to 3600", ["power --force --power-delay=-1 on node2"]),
        ),
    ),
}  # fmt: skip


class BadNodeRequestTests(BadRequestCase):
    """Each condition in a cluster of its own."""

    program = "gnt-node"

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, _wire = mirrored_cluster(3, seed)
        self.addCleanup(cluster.end)
        return cluster

    def test_table(self) -> None:
        """All of it."""
        for condition, (before, bad) in CONDITIONS.items():
            self.cluster = self.new_cluster()
            for line in (*BEFORE, *before):
                self.ok(line)
            if condition == "does not answer":
                self.cluster.node(3).stop()
            self.check_all(condition, bad)
