"""A virtual disk, and what its logical id tells by template."""

from typing import Literal

import msgspec

from ganeti_tx.model import logical_id as ids
from ganeti_tx.model.base import Params, Tracked, Wire, no_text, nothing
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port, Secret

#: Of an instance.
MAX_DISKS = 16


class Disk(Tracked, frozen=True, kw_only=True):
    """One disk, possibly made of others (`children`); `size` is in MiB, `nodes` are the uuids it lives on."""

    uuid: str
    dev_type: DiskTemplate
    logical_id: tuple[str | int, ...] | None
    size: int
    children: "tuple[Disk, ...]" = msgspec.field(default_factory=nothing)
    iv_name: str = msgspec.field(default_factory=no_text)
    mode: Literal["ro", "rw"] = msgspec.field(default_factory=lambda: "rw")
    nodes: tuple[str, ...] = msgspec.field(default_factory=nothing)
    name: str | None = None
    spindles: int | None = None
    params: Params | None = None
    forthcoming: bool = False

    def __post_init__(self) -> None:
        if not self.forthcoming:
            fault = logical_id_fault(self.dev_type, self.logical_id)
            if fault is not None:
                raise ValueError(fault)

    def __repr__(self) -> str:
        where = ids.without_secret(self.template.logical_id, self.logical_id)
        return f"Disk(uuid={self.uuid!r}, dev_type={self.dev_type.value!r}, size={self.size}, logical_id={where!r})"

    @property
    def template(self) -> Template:
        """The declaration of its template."""
        return TEMPLATES[self.dev_type]

    @property
    def mirrors(self) -> tuple[NodeUuid, ...]:
        """The nodes that its logical id names, in their order; none unless it is mirrored by the cluster."""
        return ids.parts(self.template.logical_id, NodeUuid, self.logical_id)

    @property
    def ports(self) -> tuple[Port, ...]:
        """The TCP ports that it takes."""
        return ids.parts(self.template.logical_id, Port, self.logical_id)

    @property
    def minors(self) -> tuple[tuple[NodeUuid, Minor], ...]:
        """The device numbers that it takes, each with its node."""
        minors = ids.parts(self.template.logical_id, Minor, self.logical_id)
        return tuple(zip(self.mirrors, minors, strict=False))

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What only its nodes may know."""
        return ids.parts(self.template.logical_id, Secret, self.logical_id)


class DiskPlace(Wire, frozen=True, kw_only=True):
    """Where a disk (a uuid) is, and how it was made there; minors, on these nodes, of one that is mirrored between them.

    Without `ports` those that it has stay.
    """

    uuid: str
    nodes: tuple[str, ...]
    minors: tuple[int, ...]
    size: int
    spindles: int | None
    mode: Literal["ro", "rw"]
    ports: tuple[int, ...] = ()


def place_of(disk: Disk) -> DiskPlace:
    """That of a disk as it is."""
    return DiskPlace(
        uuid=disk.uuid,
        nodes=disk.nodes,
        minors=tuple(minor for _, minor in disk.minors),
        size=disk.size,
        spindles=disk.spindles,
        mode=disk.mode,
        ports=disk.ports,
    )


def with_place(disk: Disk, place: DiskPlace) -> Disk:
    """The disk at another one, with those that it is made of; those that have its size have the new one."""
    shape = disk.template.logical_id
    ends: dict[object, tuple[str | int, ...]] = {
        NodeUuid: place.nodes if disk.mirrors else (),
        Minor: place.minors,
        Port: place.ports or disk.ports,
    }
    declared = disk.template.children
    return msgspec.structs.replace(
        disk,
        logical_id=ids.with_parts(shape, disk.logical_id, ends),
        nodes=place.nodes,
        size=place.size,
        spindles=place.spindles,
        mode=place.mode,
        children=tuple(
            msgspec.structs.replace(child, nodes=place.nodes, size=place.size if kind.size is None else child.size)
            for kind, child in zip(declared, disk.children, strict=True)
        ),
    )


class DiskSettings(Wire, frozen=True, kw_only=True):
    """What can be changed about a disk (a uuid) without its data.

    That is what the guest may do, how people call it, where it is, and its own parameters and those of its provider.
    """

    uuid: str
    mode: Literal["ro", "rw"]
    name: str | None
    nodes: tuple[str, ...]
    params: Params | None


def settings_of(disk: Disk) -> DiskSettings:
    """Those of a disk as it is."""
    return DiskSettings(uuid=disk.uuid, mode=disk.mode, name=disk.name, nodes=disk.nodes, params=disk.params)


def with_settings(disk: Disk, settings: DiskSettings) -> Disk:
    """The disk with others."""
    return msgspec.structs.replace(
        disk, mode=settings.mode, name=settings.name, nodes=settings.nodes, params=settings.params
    )


def logical_id_fault(template: DiskTemplate, logical_id: ids.Raw) -> str | None:
    """What is wrong with a logical id; None when it fits its template. Never shows the id: it may hold a secret."""
    return ids.fault(TEMPLATES[template].logical_id, template.value, logical_id)


def without_secrets(disk: Disk, instead: str = ids.HIDDEN) -> Disk:
    """The disk, and those it is made of, with other text in the place of every secret."""
    if not disk.children and Secret not in ids.kinds(disk.template.logical_id):
        return disk
    return msgspec.structs.replace(
        disk,
        logical_id=ids.without_secret(disk.template.logical_id, disk.logical_id, instead),
        children=tuple(without_secrets(child, instead) for child in disk.children),
    )
