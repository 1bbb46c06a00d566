"""Exports and imports of which each call goes wrong in turn, and whose jobs are killed and cancelled at each."""

from ganeti_tx.rpc.calls.guest import InstanceFreeze, InstanceThaw
from ganeti_tx.rpc.calls.mirror import BlockdevSnapshot
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import Calls, EachCallCase, Operation, walks

FILE = "gnt-instance add -t file -s 1G -o noop -H fake -n node2 web1"
MIRRORED = "gnt-instance add -t drbd -s 64M -o noop -H fake --ignore-ipolicy -n node2:node3 web1"
DOWN = "gnt-instance shutdown web1"
EXPORT = "gnt-backup export --remove-instance -n node1 web1"
NAME = "web1.example.com"
#: The calls between which a guest stands still.
STILL = {InstanceFreeze.name, BlockdevSnapshot.name, InstanceThaw.name}


def exported(cluster: InProcessCluster, number: int) -> bool:
    """Whether there is an export on a node."""
    path = cluster.paths.export_dir / NAME / "config.ini"
    return cluster.node(number).disk.content(path) is not None


def is_there(cluster: InProcessCluster) -> bool:
    """Whether there is an instance."""
    return bool(cluster.config.instances)


OPERATIONS = {
    "sleeping": Operation(
        "gnt-backup export --long-sleep -n node1 web1", (FILE,), done=lambda cluster: exported(cluster, 1)
    ),
    "down": Operation(
        "gnt-backup export -n node3 web1",
        (FILE, DOWN, "gnt-backup export -n node1 web1"),
        done=lambda cluster: exported(cluster, 3),
    ),
    "snapshots": Operation(
        "gnt-backup export -n node1 web1", (MIRRORED,), mirrored=True, done=lambda cluster: exported(cluster, 1)
    ),
    "removing": Operation(
        EXPORT,
        (FILE,),
        again="gnt-instance remove -f web1",
        partly=True,
        done=lambda cluster: not is_there(cluster),
    ),
    "import": Operation("gnt-backup import -n node3 web1", (FILE, EXPORT), done=is_there),
    "import_mirrored": Operation(
        "gnt-backup import --ignore-ipolicy -n node3:node2 web1", (MIRRORED, EXPORT), mirrored=True, done=is_there
    ),
    "remove": Operation("gnt-backup remove web1.example.com", (FILE, EXPORT)),
}


@walks(OPERATIONS, full=False)
class BackupEachCallTests(EachCallCase):
    """All agree: no part of an export is left, no snapshot, no disk, no transfer."""


class FrozenTests(EachCallCase):
    """A guest whose file systems stand still while snapshots are made goes on, whatever becomes of the calls around it."""

    operation = Operation(
        "gnt-backup export --noshutdown -n node1 web1",
        (MIRRORED,),
        mirrored=True,
        done=lambda cluster: exported(cluster, 1),
    )

    def calls_of_a_good_run(self, operation: Operation) -> Calls:
        """Those calls only; what follows is as with a guest that was stopped."""
        return [(number, name) for number, name in super().calls_of_a_good_run(operation) if name in STILL]

    def test_troubles(self) -> None:
        """One of them goes wrong, each in another way."""
        self.check_troubles(self.operation)

    def test_killed(self) -> None:
        """The job's process is killed at each of them."""
        self.check_ended(self.operation, self.kill)
