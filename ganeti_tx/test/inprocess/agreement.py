"""Whether what the configuration says is on the nodes is on them, and nothing else."""

from collections import Counter
from collections.abc import Iterator

from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState
from ganeti_tx.test.inprocess.cluster import InProcessCluster

SHARED = "shared"


def disagreements(cluster: InProcessCluster) -> list[str]:
    """What is amiss in a cluster at rest, a line each. An instance that should run may be down: its user sees that."""
    return [
        *disk_faults(cluster),
        *instance_faults(cluster),
        *address_faults(cluster),
        *export_faults(cluster),
        *leftovers(cluster),
    ]


def disk_faults(cluster: InProcessCluster) -> Iterator[str]:
    """Disks that are configured and not there, or there and not configured."""
    real = [disk for disk in cluster.config.disks.values() if not disk.forthcoming]
    wanted = {(home, identity(part)) for disk in real for home, part in homes(cluster, disk)}
    found = {(home, disk) for home, disks in cluster.disks().items() for disk in disks}
    found |= {
        (SHARED, device) for device in cluster.shared.devices
    } & wanted  # those that nobody has are the administrator's
    for home, disk in sorted(wanted - found):
        yield f"disk {disk} is missing ({home})"
    for home, disk in sorted(found - wanted):
        yield f"disk {disk} is nobody's ({home})"


def homes(cluster: InProcessCluster, disk: Disk) -> Iterator[tuple[str, Disk]]:
    """Each part of a disk that takes up room, with the node on which it does; no node where all see the same."""
    for part in disk.children or (disk,):
        for home in [cluster.config.nodes[uuid].name for uuid in disk.nodes] or [SHARED]:
            yield home, part


def identity(disk: Disk) -> str:
    """A disk as `InProcessCluster.disks` names it."""
    return "/".join(map(str, disk.logical_id or ()))


def instance_faults(cluster: InProcessCluster) -> Iterator[str]:
    """Instances that run where they should not, or twice."""
    config = cluster.config
    wanted = {
        each.name: config.nodes[each.primary_node].name
        for each in config.instances.values()
        if each.admin_state is AdminState.UP
    }
    running = [(home, name) for home, names in cluster.running().items() for name in names]
    for node in cluster.members:
        yield from (
            f"instance {name} stands still on {node.name}" for name in node.running() if node.stands_still(name)
        )
    for home, name in running:
        if wanted.get(name) != home:
            yield f"instance {name} runs on {home}; by the configuration on {wanted.get(name, 'none')}"


def address_faults(cluster: InProcessCluster) -> Iterator[str]:
    """Addresses of networks that two NICs have, or that are kept for nobody, or not kept for who has them."""
    nics = [nic for each in cluster.config.instances.values() for nic in each.nics]
    held = Counter((nic.network, nic.ip) for nic in nics if nic.network is not None and nic.ip is not None)
    yield from (f"address {address} has {count} NICs" for (_, address), count in held.items() if count > 1)
    for network in cluster.config.networks.values():
        pool = AddressPool(network)
        kept = {str(each) for each in pool.range() if pool.is_instances(str(each))}
        for address in sorted(kept ^ {address for uuid, address in held if uuid == network.uuid}):
            yield f"address {address} of network {network.name} is {'kept for nobody' if address in kept else 'had, but not kept'}"


def export_faults(cluster: InProcessCluster) -> Iterator[str]:
    """Parts of exports, and transfers that nobody waits for."""
    for node in cluster.members:
        names = node.disk.names(cluster.paths.export_dir)
        yield from (f"{name} is left ({node.name})" for name in names if name.startswith(".") or name.endswith(".new"))
        yield from (
            f"transfer {name} is left ({node.name})" for name, end in node.transfers.ends.items() if not end.over
        )


def leftovers(cluster: InProcessCluster) -> Iterator[str]:
    """Locks that are held, and what is reserved."""
    yield from (f"lock {each}" for each in cluster.locks() if each.owners or each.pending)
    yield from (f"reservations of {each}" for each in cluster.wconfd.reservations.owners())
