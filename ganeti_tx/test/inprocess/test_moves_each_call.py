"""Moves on storage that all nodes reach, and of all instances of a node: each call goes wrong, and the job is ended at each."""

from ganeti_tx.test.inprocess import test_adoption, test_external_storage
from ganeti_tx.test.inprocess.each_call import Operation, walks
from ganeti_tx.test.inprocess.test_each_call import BACK, CLEANUP, SHARED, is_on_node3

EXTERNAL = (test_external_storage.ENABLE, test_external_storage.ADD)
DEVICE = (test_adoption.ENABLE, test_adoption.ADD)
FAILOVER = "gnt-instance failover -f -n node3 web1"
MIGRATE = "gnt-instance migrate -f -n node3 web1"
MIRRORED = "gnt-instance add -t drbd -s 64M -o noop -H fake --ignore-ipolicy -n node2:node3 web1"
LOCAL = "gnt-instance add -t file -s 64M -o noop --ignore-ipolicy -n node2 web1"
LOOK = "gnt-instance migrate -f --cleanup --copy-disks -n node3 web1"


OPERATIONS = {
    "failover_external": Operation(FAILOVER, EXTERNAL, again=BACK, done=is_on_node3),
    "failover_device": Operation(FAILOVER, DEVICE, again=BACK, done=is_on_node3),
    "migrate_external": Operation(MIGRATE, EXTERNAL, partly=True, again=CLEANUP, done=is_on_node3),
    "migrate_device": Operation(MIGRATE, DEVICE, partly=True, again=CLEANUP, done=is_on_node3),
    "with_disks": Operation(
        "gnt-instance migrate -f --copy-disks -n node3 web1", (LOCAL,), partly=True, again=LOOK, done=is_on_node3
    ),
    "node": Operation("gnt-node migrate -f -n node3 node2", (SHARED,), partly=True, again=CLEANUP, done=is_on_node3),
    "node_mirrored": Operation(
        "gnt-node migrate -f node2",
        (MIRRORED,),
        mirrored=True,
        partly=True,
        again=CLEANUP,
        done=is_on_node3,
        pause=60.0,
    ),
}


@walks(OPERATIONS, full=False)
class MovesEachCallTests(test_adoption.DeviceCase):
    """Failovers and migrations."""
