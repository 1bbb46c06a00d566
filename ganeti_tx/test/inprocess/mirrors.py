"""Clusters in which mirrored disks can be had, from storages in memory."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, evolve
from msgspec.structs import replace

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.simulation import SimulatedTime

#: The templates that nodes with a wire for mirrors have drivers for.
TEMPLATES = AVAILABLE


def with_mirrors(config: ConfigData) -> ConfigData:
    """A cluster in which mirrors are enabled, and allowed by its policy."""
    templates = (*config.cluster.enabled_disk_templates, DiskTemplate.DRBD)
    policy = replace(config.cluster.ipolicy, disk_templates=templates)
    cluster = replace(config.cluster, enabled_disk_templates=templates, volume_group_name="xenvg", ipolicy=policy)
    return replace(config, cluster=cluster)


@define
class UnitsWithMirrors(Mapping[type[OpCode], type[LogicalUnit[Any]]]):
    """The logical units, for which mirrors are available."""

    def __getitem__(self, kind: type[OpCode]) -> Any:
        unit = UNITS[kind]
        return lambda op, context: unit(op, evolve(context, templates=TEMPLATES))

    def __iter__(self) -> Iterator[type[OpCode]]:
        return iter(UNITS)

    def __len__(self) -> int:
        return len(UNITS)


def mirrored_cluster(size: int = 3, seed: int = 0) -> tuple[InProcessCluster, MirrorWire]:
    """A cluster whose nodes mirror disks, at 10 MiB a second, and the wire between them."""
    time = SimulatedTime()
    wire = MirrorWire(time.seconds, rate=10.0)
    cluster = InProcessCluster(
        size,
        seed,
        time=time,
        mirror_wire=wire,
        prepare=with_mirrors,
        units_of=lambda node, livelock: UnitsWithMirrors(),
    )
    return cluster, wire
