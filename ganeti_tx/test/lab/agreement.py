"""Whether volumes and mirrors of machines are those of a cluster's configuration, and no others."""

import re
from collections.abc import Iterable, Iterator

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.logical_id import NodeUuid
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine

SECTORS_IN_MIB = 2048
_MINOR = re.compile(r"^ *(\d+): (cs:(?!Unconfigured).*)$", re.MULTILINE)


def disagreements(cluster: LabCluster, config: ConfigData, machines: Iterable[Machine]) -> Iterator[str]:
    """What these have and the configuration has not, and the other way round; what is not alike on both nodes of a mirror."""
    for machine in machines:
        uuid = node_uuid(cluster, config, machine)
        disks = [disk for disk in config.disks.values() if uuid in disk.nodes]
        yield from _volumes(machine, disks)
        yield from _minors(machine, {dict(disk.minors)[uuid]: disk for disk in disks if disk.minors})


def node_uuid(cluster: LabCluster, config: ConfigData, machine: Machine) -> NodeUuid:
    """As the configuration knows a machine."""
    name = cluster.node_name(machine)
    return next(NodeUuid(uuid) for uuid, node in config.nodes.items() if node.name == name)


def _volumes(machine: Machine, disks: Iterable[Disk]) -> Iterator[str]:
    wanted = {str((part.logical_id or ("",))[-1]) for disk in disks for part in disk.children or (disk,)}
    found = set(machine.run("lvs --noheadings -o lv_name xenvg").split())
    yield from (f"{machine.name} has volume {each}, of no disk" for each in sorted(found - wanted))
    yield from (f"{machine.name} has no volume {each}" for each in sorted(wanted - found))


def _minors(machine: Machine, minors: dict[int, Disk]) -> Iterator[str]:
    lines = dict(_MINOR.findall(machine.run("cat /proc/drbd")))
    yield from (
        f"{machine.name} has minor {each}, of no disk" for each in sorted(map(int, lines)) if each not in minors
    )
    for minor, disk in minors.items():
        yield from _faults(machine, minor, disk, lines.get(str(minor), "nothing"))


def _faults(machine: Machine, minor: int, disk: Disk, line: str) -> Iterator[str]:
    if "cs:Connected" not in line or "ds:UpToDate/UpToDate" not in line:
        yield f"minor {minor} of {machine.name} is {line}"
        return
    size = int(machine.run(f"cat /sys/block/drbd{minor}/size")) // SECTORS_IN_MIB
    if size != disk.size:
        yield f"minor {minor} of {machine.name} has {size} MiB, the configuration {disk.size}"
