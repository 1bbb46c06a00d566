"""Disks made ready, made anew and replaced, and several instances made: each call goes wrong, and the job is ended at each."""

import json
from pathlib import Path

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation, walks
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.mirrored_case import ADD
from ganeti_tx.test.inprocess.test_batch_create import web

FILE = "gnt-instance add -t file -s 1G -o noop -n node2 --no-start web1"
MIRRORED = f"{ADD.replace('1G', '64M')} --no-start web1"
ACTIVATE = "gnt-instance activate-disks web1"
DEACTIVATE = "gnt-instance deactivate-disks web1"
REPLACE = "gnt-instance replace-disks"


def is_elsewhere(cluster: InProcessCluster) -> bool:
    """Whether the mirror has its second side on the first node."""
    uuid = next(uuid for uuid, node in cluster.config.nodes.items() if node.name == cluster.node(1).name)
    return all(uuid in disk.nodes for disk in cluster.config.disks.values())


READY = {
    "activate": Operation(ACTIVATE, (FILE,)),
    "activate_mirrored": Operation(ACTIVATE, (MIRRORED,), mirrored=True),
    "deactivate": Operation(DEACTIVATE, (FILE, ACTIVATE)),
    "deactivate_mirrored": Operation(DEACTIVATE, (MIRRORED, ACTIVATE), mirrored=True, partly=True),
}


@walks(READY, full=False)
class ReadyDisksEachCallTests(EachCallCase):
    """What is ready is what is marked as active, and all that is there."""

    def faults(self, cluster: InProcessCluster) -> list[str]:
        """See `EachCallCase`."""
        (instance,) = cluster.config.instances.values()
        homes = [home for number in (2, 3) if (home := cluster.node(number).mirror_node) is not None]
        ready = [bool(home.devices.behind) for home in homes]
        found = [] if all(each == instance.disks_active for each in ready) else [f"ready: {ready}, marked {instance}"]
        return [*super().faults(cluster), *found]


REPLACED = {
    "secondary": Operation(f"{REPLACE} -s web1", (MIRRORED,), mirrored=True, partly=True),
    "primary": Operation(f"{REPLACE} -p web1", (MIRRORED,), mirrored=True, partly=True),
    "new_node": Operation(f"{REPLACE} -n node1 web1", (MIRRORED,), mirrored=True, partly=True, done=is_elsewhere),
}


@walks(REPLACED, full=False)
class ReplacedDisksEachCallTests(EachCallCase):
    """An old copy that cannot be removed is only told of."""

    def check_outcome(self, operation: Operation, success: bool, where: str) -> None:
        """See `EachCallCase` (reference: storage-rules.json, replace_disks)."""
        if not (success and "Can't remove the old copy" in where):
            super().check_outcome(operation, success, where)


def are_there(cluster: InProcessCluster) -> bool:
    """Whether both sides of the mirror have their volumes."""
    return all(node.mirror_node is not None and node.mirror_node.volumes.disks for node in cluster.members[1:3])


RECREATE = "gnt-instance recreate-disks"
RECREATED = {
    "in_place": Operation(f"{RECREATE} web1", (MIRRORED,), mirrored=True, partly=True, done=are_there),
    "elsewhere": Operation(
        f"{RECREATE} -n node3:node1 web1", (MIRRORED,), mirrored=True, partly=True, done=is_elsewhere
    ),
}


@walks(RECREATED, full=False)
class RecreatedDisksEachCallTests(EachCallCase):
    """Mirrors of which both sides are lost."""

    def prepared(self, operation: Operation) -> InProcessCluster:
        """See `EachCallCase`."""
        cluster = super().prepared(operation)
        for node in cluster.members:
            assert node.mirror_node is not None
            node.mirror_node.volumes.disks.clear()
        return cluster


SEVERAL = {
    "several": Operation(
        "gnt-instance batch-create batch.json",
        ("gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",),
        done=lambda cluster: bool(cluster.config.instances),
    )
}


@walks(SEVERAL, full=False)
class SeveralEachCallTests(EachCallCase):
    """Several instances made at once, where an allocator says: each is there or is not."""

    def setUp(self) -> None:
        super().setUp()
        Path("batch.json").write_text(json.dumps([web(1), web(2)]))

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `EachCallCase`."""
        cluster = super().new_cluster(seed)
        install_hail(cluster)
        return cluster
