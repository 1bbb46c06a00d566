"""The fields of instances about disks: one by one, and all in a list."""

from collections.abc import Callable, Sequence
from operator import attrgetter

from ganeti_tx.model.disk import MAX_DISKS, Disk
from ganeti_tx.model.disk_templates import WITHOUT_DISKS
from ganeti_tx.model.instance import Instance
from ganeti_tx.query.instance_context import InstanceContext
from ganeti_tx.query.language.field import Field, Gives, Kind, computed

#: Shown as the template of an instance whose disks differ in it.
MIXED = "mixed"

OfDisks = Callable[[Sequence[Disk]], object]


def one(attribute: str, index: int) -> Callable[[InstanceContext], Callable[[Instance], object]]:
    """What one disk holds; None without that disk."""
    get = attrgetter(attribute)

    def bind(context: InstanceContext) -> Callable[[Instance], object]:
        disks = context.view.config.disks

        def value(instance: Instance) -> object:
            disk = disks.get(instance.disks[index]) if len(instance.disks) > index else None
            return get(disk) if disk is not None else None

        return value

    return bind


def of_all(get: OfDisks) -> Callable[[InstanceContext], Callable[[Instance], object]]:
    """Something about all disks."""

    def bind(context: InstanceContext) -> Callable[[Instance], object]:
        disks = context.view.disks
        return lambda instance: get(disks(instance))

    return bind


def every(attribute: str) -> OfDisks:
    """What each disk holds."""
    get = attrgetter(attribute)
    return lambda disks: [get(disk) for disk in disks]


def template(disks: Sequence[Disk]) -> str:
    """The template that the disks share."""
    found = {disk.dev_type for disk in disks} or {WITHOUT_DISKS}
    return found.pop().value if len(found) == 1 else MIXED


def usage(disks: Sequence[Disk]) -> int:
    """MiB that the disks take on each of the instance's nodes."""
    return sum(disk.template.room(disk.size) for disk in disks)


#: Attribute, title for one, kind for one, name for all, title for all, what it is.
FAMILIES: Sequence[tuple[str, str, Kind, str, str, str]] = (
    ("name", "DiskName", Kind.TEXT, "disk.names", "Disk_names", "Name"),
    ("size", "Disk", Kind.UNIT, "disk.sizes", "Disk_sizes", "Size"),
    ("spindles", "DiskSpindles", Kind.NUMBER, "disk.spindles", "Disk_spindles", "Number of spindles"),
    ("uuid", "DiskUUID", Kind.TEXT, "disk.uuids", "Disk_UUIDs", "Unique identifier"),
)


def one_field(name: str, attribute: str, title: str, kind: Kind, what: str, index: int) -> Field:
    """The field of one disk."""
    return Field(name, f"{title}/{index}", kind, f"{what} of disk {index}", one(attribute, index), Gives.MAYBE)


def disk_fields() -> list[Field]:
    """All fields of all families."""
    fields = [
        computed("disk.count", "Disks", Kind.NUMBER, "Number of disks", lambda instance: len(instance.disks)),
        Field("disk_template", "Disk_template", Kind.TEXT, "Template of the disks", of_all(template)),
        Field("disk_usage", "DiskUsage", Kind.UNIT, "Room that the disks take on each node", of_all(usage)),
        one_field("sda_size", "size", "Disk", Kind.UNIT, "Size", 0),
        one_field("sdb_size", "size", "Disk", Kind.UNIT, "Size", 1),
    ]
    for attribute, title, kind, plural, plural_title, what in FAMILIES:
        for index in range(MAX_DISKS):
            fields.append(one_field(f"disk.{attribute}/{index}", attribute, title, kind, what, index))
        fields.append(Field(plural, plural_title, Kind.OTHER, f"{what} of each disk", of_all(every(attribute))))
    return fields


DISK_FIELDS = disk_fields()
