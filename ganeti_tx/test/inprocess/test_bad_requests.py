"""What cannot be, over all operations on instances: its code, one line that says what would help, and nothing is changed.

What is wrong with the many parameters of creations and changes is in the tests of their units.
"""

from collections.abc import Sequence

from ganeti_tx.errors import ECode
from ganeti_tx.test.inprocess.bad_requests import LATE, Bad, BadRequestCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.hail import install_hail

ADD = "gnt-instance add -H fake -o noop --no-name-check --no-ip-check"
RENAME = "rename --force --no-name-check --no-ip-check"
#: One runs on a file of its own node, one on a file that all reach; one is down, one is only reserved.
BEFORE = (
    "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
    f"{ADD} -t file -s 1G -n node2 web1",
    f"{ADD} -t sharedfile -s 1G -n node2 web2",
    f"{ADD} -t file -s 1G -n node3 --no-start web3",
    f"{ADD} -t file -s 1G -n node2 --forthcoming web4",
    "gnt-group add rack2",
)
SPECS = "cpu-count={},disk-count={},disk-size={},memory-size={},nic-count={},spindle-use=1"
INVAL, STATE, NOENT, EXISTS = ECode.INVAL, ECode.STATE, ECode.NOENT, ECode.EXISTS


def each(name: str, *requests: str) -> list[str]:
    """Requests about one instance."""
    return [request.replace("{}", name) if "{}" in request else f"{request} {name}" for request in requests]


#: What each condition forbids, with the commands that bring it about.
CONDITIONS: dict[str, tuple[Sequence[str], Sequence[Bad]]] = {
    "no such thing": (
        (),
        (
            Bad(
                NOENT,
                "Instance 'nosuch' not known",
                each(
                    "nosuch", "info -s", "console", "modify -B vcpus=2", "grow-disk {} 0 1g", "replace-disks -p",
                    "move -f -n node3", "failover -f -n node3", "migrate -f -n node3", "migrate -f --cleanup",
                    "change-group --to rack2", "activate-disks", "deactivate-disks", "recreate-disks", f"{RENAME} {{}} web9",
                    "remove -f", "add --commit",
                ),
            ),
            Bad(INVAL, "Selection filter does not match any", each("nosuch", "reboot", "startup", "shutdown", "reinstall -f")),
            Bad(
                NOENT,
                "nosuch",
                [
                    "gnt-node migrate -f nosuch", "gnt-group evacuate nosuch", "move -f -n nosuch web3",
                    "failover -f -n nosuch web2", "migrate -f -n nosuch web2", "change-group --to nosuch web2",
                    "replace-disks -n nosuch web1", "recreate-disks -n nosuch web3", "modify --new-primary nosuch web3",
                    f"{ADD} -t file -s 1G -n nosuch web5",
                ],
            ),
            Bad(
                INVAL,
                "Directory for OS nosuch not found in search path:",
                [f"{ADD.replace('noop', 'nosuch')} -t file -s 1G -n node2 web5", "reinstall -f -o nosuch web3"],
            ),
            Bad(LATE, "'nosuch' not found in the search path", [f"{ADD} -t file -s 1G -I nosuch web5"]),
        ),
    ),
    "only reserved": (
        (),
        (
            Bad(
                STATE,
                "is forthcoming: it is only reserved; 'gnt-instance add --commit web4",
                each(
                    "web4", "console", "reboot", "modify -B vcpus=2", "grow-disk {} 0 1g", "replace-disks -p", "move -f -n node3",
                    "change-group --to rack2", "shutdown", "startup", "activate-disks", "deactivate-disks", "reinstall -f",
                    "recreate-disks", f"{RENAME} {{}} web9",
                ),
            ),
            Bad(STATE, "does not allow", each("web4", "failover -f -n node3", "migrate -f -n node3", "migrate -f --cleanup")),
            Bad(EXISTS, "already in the cluster", [f"{ADD} -t file -s 1G -n node2 web4", f"{RENAME} web3 web4"]),
        ),
    ),
    "its node is offline": (
        ("gnt-node modify --offline yes --force node2",),
        (
            Bad(
                STATE,
                "node2.example.com; cannot",
                [
                    *each("web1", "console", "reboot", "grow-disk {} 0 1g", "shutdown", "startup", "activate-disks"),
                    "move -f -n node3 web1",
                    "move -f -n node2 web3", "modify --new-primary node2 web3", f"{ADD} -t file -s 1G -n node2 web5",
                ],
            ),
            Bad(STATE, "Instance primary node offline, cannot", each("web1", "reinstall -f", f"{RENAME} {{}} web9")),
            Bad(LATE, "--ignore-failures", ["remove -f web1"]),
        ),
    ),
    "the other node is drained": (
        ("gnt-node modify --drained yes node3",),
        (
            Bad(
                STATE,
                "node3.example.com is drained: cannot use it for new instances",
                [
                    "move -f -n node3 web1", "failover -f -n node3 web2", "migrate -f -n node3 web2",
                    "recreate-disks -n node3 web3", f"{ADD} -t file -s 1G -n node3 web5",
                ],
            ),
        ),
    ),
    "it runs, or does not": (
        (),
        (
            Bad(
                STATE,
                "is marked to be up, ",
                each(
                    "web1", "reinstall -f", "recreate-disks", "deactivate-disks", "modify --offline", "modify -t sharedfile",
                    "modify --new-primary node3", "modify --disk 0:detach",
                ),
            ),
            Bad(STATE, "cannot rename; 'gnt-instance shutdown web1", [f"{RENAME} web1 web9"]),
            Bad(STATE, "is not running", ["modify -m 128 web3"]),
            Bad(LATE, "is not running", ["console web3"]),
            Bad(EXISTS, "has been created already", ["add --commit web3"]),
        ),
    ),
    "out of range": (
        (),
        (
            Bad(INVAL, "index: 7 (instance has disks 0 to 0)", ["grow-disk web1 7 1g", "recreate-disks --disk 7 web3"]),
            Bad(INVAL, "index 7, but there are only 1", ["modify --disk 7:remove web3", "modify --net 7:remove web3"]),
            Bad(INVAL, "must be at least 1, got 0", ["modify -B vcpus=0 web1", f"{ADD} -t diskless -B vcpus=0 -n node2 web5"]),
            Bad(
                INVAL,
                "is above maxmem",
                ["modify -B maxmem=64 web3", f"{ADD} -t diskless -B maxmem=128,minmem=256 -n node2 web5"],
            ),
            Bad(INVAL, "not a size: 0; give a number with", [f"{ADD} -t file -s 0 -n node2 web5"]),
            Bad(STATE, "is smaller than current disk size", ["grow-disk --absolute web1 0 1m"]),
        ),
    ),
    "the policy forbids it": (
        (
            f"gnt-cluster modify --ipolicy-bounds-specs min:{SPECS.format(1, 0, 512, 64, 0)}"
            f"/max:{SPECS.format(2, 1, 1024, 256, 1)} --ipolicy-disk-templates=file,sharedfile",
        ),
        (
            Bad(
                INVAL,
                " violates policy: ",
                [
                    f"{ADD} -t file -s 4G -n node2 web5", f"{ADD} -t file -s 1G -B vcpus=4 -n node2 web5",
                    f"{ADD} -t diskless -n node2 web5", "modify -B vcpus=4 web1", "modify --net add web3",
                    "modify --disk add:size=1G web3", "grow-disk web1 0 2g",
                ],
            ),
        ),
    ),
    "the other group does not take it": (
        ("gnt-group assign-nodes --force rack2 node3", "gnt-group modify --ipolicy-disk-templates=diskless rack2"),
        (
            Bad(
                INVAL,
                " (rack2) violates policy: Disk template ",
                [
                    "move -f -n node3 web1", "failover -f -n node3 web2", "migrate -f -n node3 web2",
                    f"{ADD} -t file -s 1G -n node3 web5",
                ],
            ),
            Bad(LATE, "Unable to evacuate instances web2", ["change-group --to rack2 web2"]),
        ),
    ),
    "it is there already": (
        (
            "gnt-network add --network=10.7.0.0/30 lan",
            "gnt-network connect -N mode=routed,link=1 lan",
            f"{ADD} -t diskless --net 0:network=lan,ip=10.7.0.1 --net 1:network=lan,ip=10.7.0.2 -n node2 web6",
        ),
        (
            Bad(EXISTS, "already in the cluster", [f"{ADD} -t file -s 1G -n node2 web1", f"{RENAME} web3 web1"]),
            Bad(
                ECode.NOTUNIQUE,
                "of network lan is taken",
                [
                    f"{ADD} -t diskless --net 0:network=lan,ip=10.7.0.1 -n node2 web7",
                    "modify --net 0:network=lan,ip=10.7.0.1 web3",
                ],
            ),
            Bad(ECode.NORES, "network lan has no free address", [f"{ADD} -t diskless --net 0:network=lan,ip=pool -n node2 web8"]),
            Bad(STATE, "is already on the node", ["move -f -n node2 web1"]),
            Bad(STATE, "to its primary (node2.example.com)", ["failover -f -n node2 web2", "migrate -f -n node2 web2"]),
            Bad(
                INVAL,
                "have no secondary node, so none can be given",
                [f"{verb} -f -n node3 --secondary-node node2 web2" for verb in ("failover", "migrate")],
            ),
            Bad(INVAL, "they are used by the instance", ["change-group --to default web2"]),
        ),
    ),
}  # fmt: skip


class BadRequestTests(BadRequestCase):
    """Each condition in a cluster of its own."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster = super().new_cluster(seed)
        install_hail(cluster)
        return cluster

    def test_table(self) -> None:
        """All of it."""
        for condition, (before, bad) in CONDITIONS.items():
            self.cluster = self.new_cluster()
            for line in (*BEFORE, *before):
                self.ok(line)
            self.check_all(condition, bad)

    def test_nothing_free(self) -> None:
        """There is no room on a node, in its memory or its storage."""
        for line in BEFORE:
            self.ok(line)
        self.cluster.node(3).disk_full()
        for request in (
            f"{ADD} -t file -s 1G -n node3 web5",
            "gnt-instance grow-disk web3 0 1g",
            "gnt-instance move -f -n node3 web1",
        ):
            self.check("full", Bad(ECode.NORES, "", [request]), request)
        grown = "gnt-instance modify -B maxmem=20000,minmem=128 web1"
        self.check("memory", Bad(ECode.NORES, "MB of memory missing", [grown]), grown)
