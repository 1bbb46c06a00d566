"""Installations and exports by an image of which each call goes wrong in turn, and whose jobs are killed and cancelled at each."""

import os

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation, walks
from ganeti_tx.test.inprocess.imaged_guest import IMAGE, NAME, with_images

MESH = "gnt-cluster modify --instance-communication-network=mesh"
INSTALLS, ZEROES = f"gnt-cluster modify --install-image={IMAGE}", f"gnt-cluster modify --zeroing-image={IMAGE}"


def exported(cluster: InProcessCluster) -> bool:
    """Whether there is an export."""
    path = cluster.paths.export_dir / NAME / "config.ini"
    return cluster.node(1).disk.content(path) is not None


OPERATIONS = {
    "install": Operation(
        "gnt-instance add -t file -s 64M -o strange -H fake --ignore-ipolicy -n node2 web1",
        (MESH, INSTALLS),
        done=lambda cluster: bool(cluster.config.instances),
    ),
    "zero": Operation(
        "gnt-backup export --zero-free-space --long-sleep -n node1 web1",
        (MESH, ZEROES, "gnt-instance add -t file -s 64M -o noop -H fake --ignore-ipolicy -n node2 web1"),
        done=exported,
    ),
}


@walks(OPERATIONS, full=False)
class ImageRunsEachCallTests(EachCallCase):
    """All agree: no disk with an image is left, nothing runs from one, and what ran before runs again."""

    if not os.environ.get("GANETI_EVERY_CALL"):
        skip = "takes more than a minute; GANETI_EVERY_CALL=1 has it run"

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """One with images."""
        cluster = super().new_cluster(seed)
        with_images(cluster)
        return cluster
