"""All that a cluster in this process is, for tests that nothing changes it."""

from ganeti_tx.test.inprocess.cluster import InProcessCluster

#: The configuration byte for byte; the disks, and what runs.
State = tuple[bytes, object, object]


def state(cluster: InProcessCluster) -> State:
    """As it is now."""
    return cluster.master.disk.read(cluster.paths.config_file, 1 << 24), cluster.disks(), cluster.running()
