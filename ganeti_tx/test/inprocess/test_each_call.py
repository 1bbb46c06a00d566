"""Operations on instances of which each call goes wrong in turn, and whose jobs are killed and cancelled at each."""

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation, walks

FILE = "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -n node2 web1"
STOPPED = FILE.replace(" web1", " --no-start web1")
MIRRORED = "gnt-instance add -t drbd -s 64M -o noop -H fake --ignore-ipolicy -n node2:node3 web1"

SHARED = "gnt-instance add -t sharedfile -s 1G -o noop -n node2 web1"
CLEANUP = "gnt-instance migrate -f --cleanup web1"
BACK = "gnt-instance startup web1"
READY = "gnt-instance activate-disks web1"

NETWORK = ("gnt-network add --network=10.9.0.0/29 lan", "gnt-network connect -N mode=routed,link=1 lan")
ADDRESSES = "--net 0:network=lan,ip=pool --net 1:network=lan,ip=10.9.0.5"
WITH_ADDRESSES = (*NETWORK, f"gnt-instance add -t diskless {ADDRESSES} -o noop -n node2 web1")


def is_there(cluster: InProcessCluster) -> bool:
    """Whether the instance has been made."""
    return bool(cluster.config.instances)


def is_gone(cluster: InProcessCluster) -> bool:
    """Whether it has been removed."""
    return not cluster.config.instances


def is_renamed(cluster: InProcessCluster) -> bool:
    """Whether it has its new name."""
    return [each.name for each in cluster.config.instances.values()] == ["web2.example.com"]


def is_on_node3(cluster: InProcessCluster) -> bool:
    """Whether it runs there, and nowhere else."""
    (instance,) = cluster.config.instances.values()
    home = cluster.config.nodes[instance.primary_node].name
    return home == "node3.example.com" and cluster.running() == {home: [instance.name]}


def is_moved(cluster: InProcessCluster) -> bool:
    """Whether it is where it was to go."""
    return all(each.primary_node == home(cluster, 3) for each in cluster.config.instances.values())


def home(cluster: InProcessCluster, number: int) -> str:
    """The uuid of a node."""
    return next(uuid for uuid, node in cluster.config.nodes.items() if node.name == cluster.node(number).name)


OPERATIONS = {
    "create": Operation(FILE, done=is_there),
    "create_diskless": Operation(
        f"gnt-instance add -t diskless {ADDRESSES} -o noop -n node2 web1", NETWORK, done=is_there
    ),
    "remove_diskless": Operation("gnt-instance remove -f web1", WITH_ADDRESSES, partly=True, done=is_gone),
    "create_shared": Operation("gnt-instance add -t sharedfile -s 1G -o noop -n node2 web1", done=is_there),
    "create_mirrored": Operation(MIRRORED, mirrored=True, done=is_there),
    "shutdown": Operation("gnt-instance shutdown web1", (FILE,)),
    "startup": Operation("gnt-instance startup web1", (FILE, "gnt-instance shutdown web1")),
    "reboot_hard": Operation("gnt-instance reboot -t hard web1", (FILE,)),
    "reboot_full": Operation("gnt-instance reboot -t full web1", (FILE,)),
    "failover": Operation("gnt-instance failover -f -n node3 web1", (SHARED,), again=BACK, done=is_on_node3),
    "failover_mirrored": Operation(
        "gnt-instance failover -f web1", (MIRRORED,), mirrored=True, again=BACK, done=is_on_node3, pause=60.0
    ),
    "migrate": Operation(
        "gnt-instance migrate -f -n node3 web1", (SHARED,), partly=True, again=CLEANUP, done=is_on_node3
    ),
    "migrate_mirrored": Operation(
        "gnt-instance migrate -f web1",
        (MIRRORED,),
        mirrored=True,
        partly=True,
        again=CLEANUP,
        done=is_on_node3,
        pause=60.0,
    ),
    "clean_up": Operation(CLEANUP, (SHARED,)),
    "clean_up_mirrored": Operation(CLEANUP, (MIRRORED,), mirrored=True, again=READY, pause=60.0),
    "rename": Operation("gnt-instance rename web1 web2", (STOPPED,), done=is_renamed),
    "rename_shared": Operation(
        "gnt-instance rename web1 web2", (STOPPED.replace("-t file", "-t sharedfile"),), done=is_renamed
    ),
    "rename_mirrored": Operation(
        "gnt-instance rename web1 web2",
        (MIRRORED.replace(" web1", " --no-start web1"),),
        mirrored=True,
        done=is_renamed,
    ),
    "reinstall": Operation("gnt-instance reinstall -f web1", (STOPPED,)),
    "reinstall_mirrored": Operation(
        "gnt-instance reinstall -f web1", (MIRRORED.replace(" web1", " --no-start web1"),), mirrored=True
    ),
    "remove": Operation("gnt-instance remove -f web1", (FILE,), partly=True, done=is_gone),
    "remove_mirrored": Operation("gnt-instance remove -f web1", (MIRRORED,), mirrored=True, partly=True, done=is_gone),
    "move": Operation("gnt-instance move -f -n node3 web1", (FILE,), done=is_moved),
}


@walks(OPERATIONS)
class EachCallTests(EachCallCase):
    """Creation, removal, start and stop."""
