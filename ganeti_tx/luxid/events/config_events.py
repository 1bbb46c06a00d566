"""From two states of the configuration to the events between them. What is the same object in both is not looked into."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from attrs import define, field
from msgspec.structs import fields
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.events import (
    ClusterEvent,
    Event,
    FilterEvent,
    GroupEvent,
    InstanceEvent,
    NetworkEvent,
    NodeEvent,
    ObjectEvent,
)
from ganeti_tx.model.instance import Instance
from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: Seconds for which a changed file is not read yet, since more changes may follow.
READ_DELAY = 0.5

Make = type[ObjectEvent]
CONTAINERS: tuple[tuple[str, Make], ...] = (
    ("networks", NetworkEvent),
    ("nodegroups", GroupEvent),
    ("nodes", NodeEvent),
    ("instances", InstanceEvent),
    ("filters", FilterEvent),
)
#: What changes with every change.
COUNTS = frozenset({"serial_no", "mtime"})


@define
class ConfigEvents:
    """Compares each new configuration with the one before."""

    add: Callable[[Event], None]
    now: Callable[[], float]
    known: ConfigData

    def changed(self, config: ConfigData) -> None:
        """Tell what is different."""
        before, self.known = self.known, config
        for event in changes(before, config, self.now()):
            self.add(event)


@define
class ConfigFile:
    """Notices new configurations that another process writes; those that follow quickly are taken as one."""

    snapshot: Callable[[], ConfigData]
    clock: IReactorTime
    tell: Callable[[ConfigData], None]
    _due: IDelayedCall | None = field(default=None, init=False)

    def watch(self, watch: IFileWatch, paths: Paths) -> None:
        """Begin; what is in the file by then is read in any case."""

        def changed(name: str) -> None:
            if name == paths.config_file.name and self._due is None:
                self._due = self.clock.callLater(READ_DELAY, self._read)

        watch.watch(paths.config_file.parent, changed)
        changed(paths.config_file.name)

    def _read(self) -> None:
        self._due = None
        try:
            config = self.snapshot()
        except ConfigurationError as error:
            log.error("the changes of the configuration cannot be told: {error}", error=str(error))
        else:
            self.tell(config)


def changes(before: ConfigData, now: ConfigData, time: float) -> Iterator[Event]:
    """What is different, the cluster first, then what others need before those that need it."""
    if before.cluster is not now.cluster and (names := different(before.cluster, now.cluster)):
        yield ClusterEvent(
            time=time,
            change="changed",
            uuid=now.cluster.uuid,
            name=now.cluster.cluster_name,
            old_name=renamed(before.cluster.cluster_name, now.cluster.cluster_name),
            old_serial=before.cluster.serial_no,
            new_serial=now.cluster.serial_no,
            fields=names,
        )
    with_disks = owners_of_changed_disks(before, now)
    for container, make in CONTAINERS:
        old, new = getattr(before, container), getattr(now, container)
        also = with_disks if container == "instances" else frozenset()
        if old is not new or also:
            yield from object_changes(make, old, new, also, time)


def object_changes(
    make: Make, before: Mapping[str, Any], now: Mapping[str, Any], also: frozenset[str], time: float
) -> Iterator[Event]:
    """Objects of one kind. @param also: instances with a changed disk, which may themselves be the same."""
    for uuid in [uuid for uuid in before if uuid not in now]:
        gone = before[uuid]
        yield make(time=time, change="removed", uuid=uuid, name=name_of(gone), old_serial=serial_of(gone))
    for uuid, new in now.items():
        old = before.get(uuid)
        if old is None:
            yield make(time=time, change="added", uuid=uuid, name=name_of(new), new_serial=serial_of(new))
        elif old is not new or uuid in also:
            names = different(old, new)
            if uuid in also and "disks" not in names:
                names = (*names, "disks")
            if names:
                yield make(
                    time=time,
                    change="changed",
                    uuid=uuid,
                    name=name_of(new),
                    old_name=renamed(name_of(old), name_of(new)),
                    old_serial=serial_of(old),
                    new_serial=serial_of(new),
                    fields=names,
                )


def owners_of_changed_disks(before: ConfigData, now: ConfigData) -> frozenset[str]:
    """The instances of which a disk is different."""
    if before.disks is now.disks:
        return frozenset()
    changed = set(different_disks(before.disks, now.disks))
    return frozenset(uuid for uuid, owner in holders(now.instances) if not changed.isdisjoint(owner.disks))


def different_disks(before: Mapping[str, Disk], now: Mapping[str, Disk]) -> Iterable[str]:
    """Disks that are in both and not the same."""
    for uuid, new in now.items():
        old = before.get(uuid)
        if old is not None and old is not new and old != new:
            yield uuid


def holders(instances: Mapping[str, Instance]) -> Iterable[tuple[str, Instance]]:
    """Instances that have disks."""
    return ((uuid, instance) for uuid, instance in instances.items() if instance.disks)


def different(old: msgspec.Struct, new: msgspec.Struct) -> tuple[str, ...]:
    """The fields in which two objects differ; an object that was only counted differs in "serial_no"."""
    if old == new:
        return ()
    names = tuple(each.name for each in fields(new) if getattr(old, each.name) != getattr(new, each.name))
    return tuple(name for name in names if name not in COUNTS) or ("serial_no",)


def name_of(thing: Any) -> str:
    """Its name; a filter rule has none but its uuid."""
    return str(getattr(thing, "name", thing.uuid))


def serial_of(thing: Any) -> int | None:
    """Its serial number, if it has one."""
    return getattr(thing, "serial_no", None)


def renamed(old: str, new: str) -> str | None:
    """The old name, if it is another."""
    return None if old == new else old
