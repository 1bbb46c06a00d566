"""Failovers and migrations to any node of which each call goes wrong in turn."""

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation, walks
from ganeti_tx.test.inprocess.mirrored_case import ADD
from ganeti_tx.test.inprocess.test_any_node import MIGRATE

SMALL = f"{ADD.replace('1G', '64M')} web1"
DOWN = "gnt-instance shutdown web1"
BACK = "gnt-instance startup web1"
READY = "gnt-instance activate-disks web1"
CLEANUP = f"{MIGRATE} --cleanup web1"


def is_on_node1(cluster: InProcessCluster) -> bool:
    """Whether that is its primary node."""
    return [cluster.config.nodes[each.primary_node].name for each in cluster.config.instances.values()] == [
        "node1.example.com"
    ]


def to_node1(verb: str, kept: int, *before: str, again: str = BACK, partly: bool = False, more: str = "") -> Operation:
    """To the node that has no copy."""
    line = f"gnt-instance {verb} -f -n node1 --secondary-node node{kept}{more} web1"
    return Operation(line, (SMALL, *before), mirrored=True, again=again, done=is_on_node1, partly=partly, pause=60.0)


OPERATIONS = {
    "secondary_stays": to_node1("failover", 3),
    "primary_stays": to_node1("failover", 2),
    "waits": to_node1("failover", 3, more=" --wait-for-sync"),
    "stopped": to_node1("failover", 2, DOWN),
    "stopped_active": to_node1("failover", 3, DOWN, READY, again=READY),
    "migrate": to_node1("migrate", 2, again=CLEANUP, partly=True),
}


#: What each way does is ended at each call; two of them meet all other trouble, too.
WALKED = {name: OPERATIONS[name] for name in ("secondary_stays", "waits")}


@walks(WALKED)
class EachCallTests(EachCallCase):
    """Each call in trouble, and the job ended at each."""

    def check_outcome(self, operation: Operation, success: bool, where: str) -> None:
        """An old copy that cannot be removed, or stays as the new one is not whole, is only told of."""
        if "Can't remove the old copy" not in where and "whose data stay" not in where:
            super().check_outcome(operation, success, where)

    def test_killed_others(self) -> None:
        """The job's process is killed at each call."""
        for name in OPERATIONS.keys() - WALKED.keys():
            self.check_ended(OPERATIONS[name], self.kill)
