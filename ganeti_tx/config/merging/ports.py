"""TCP ports of a cluster that is merged: those of disks are new ones, those that this cluster has are others.

What runs keeps its ports: it has them open.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from ganeti_tx.config.accounts import free_ports
from ganeti_tx.config.claims import PORT, taken
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.logical_id import Port, with_parts


def is_active(instance: Instance) -> bool:
    """Whether it runs, or shall, or has its disks open."""
    return instance.admin_state is AdminState.UP or instance.disks_active


def stopped(config: ConfigData) -> ConfigData:
    """The configuration as it will be when all instances were shut down."""
    instances = {
        uuid: replace(each, admin_state=AdminState.DOWN, disks_active=False) if is_active(each) else each
        for uuid, each in config.instances.items()
    }
    return replace(config, instances=instances)


def fixed_ports(config: ConfigData) -> dict[int, str]:
    """The ports that are in use by what runs, each with the instance."""
    found: dict[int, str] = {}
    for instance in filter(is_active, config.instances.values()):
        disks = [config.disks[uuid] for uuid in instance.disks if uuid in config.disks]
        ports = [port for disk in disks for port in disk.ports]
        if instance.network_port is not None:
            ports.append(Port(instance.network_port))
        found.update(dict.fromkeys(ports, instance.name))
    return found


def port_obstacles(ours: ConfigData, theirs: ConfigData) -> list[str]:
    """Ports that are taken here and cannot be exchanged there."""
    used = taken(ours, PORT)
    return [
        f"TCP port {port} of instance {name}, which is not stopped, is in use in this cluster: stop the instance"
        for port, name in sorted(fixed_ports(theirs).items())
        if port in used
    ]


def with_free_ports(ours: ConfigData, theirs: ConfigData) -> ConfigData:
    """Their configuration with ports that nobody has here. @raise ConfigurationError: there are not enough."""
    used = {int(port) for port in taken(ours, PORT)}
    fixed = fixed_ports(theirs)
    kept = {
        each.network_port
        for each in theirs.instances.values()
        if each.network_port is not None and each.network_port not in used
    }
    free = free_ports(ours.cluster, {*used, *fixed, *kept})
    instances = {
        uuid: replace(each, network_port=following(free)) if each.network_port in used else each
        for uuid, each in theirs.instances.items()
    }
    disks = {
        uuid: disk if not disk.ports or fixed.keys() & disk.ports else with_new_ports(disk, free)
        for uuid, disk in theirs.disks.items()
    }
    return replace(theirs, instances=instances, disks=disks)


def with_new_ports(disk: Disk, free: Iterator[int]) -> Disk:
    """The disk with the next ones."""
    new: dict[object, list[int]] = {Port: [following(free) for _ in disk.ports]}
    return replace(disk, logical_id=with_parts(disk.template.logical_id, disk.logical_id, new))


def following(free: Iterator[int]) -> int:
    """The next free port. @raise ConfigurationError: there is none."""
    port = next(free, None)
    if port is None:
        raise ConfigurationError("there are not enough free TCP ports in this cluster for the other cluster's disks")
    return port
