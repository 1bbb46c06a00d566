"""A virtual disk, and what its logical id tells by template."""

from typing import Literal, NamedTuple

import msgspec

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import Params, Tracked, no_text, nothing
from ganeti_tx.model.enums import DiskTemplate

#: What stands at each place of a logical id (Ganeti 3.0 configuration table).
LOGICAL_ID_SHAPES: dict[DiskTemplate, tuple[type, ...]] = {
    DiskTemplate.BLOCKDEV: (str, str),
    DiskTemplate.DISKLESS: (),
    DiskTemplate.DRBD: (str, str, int, int, int, str),
    DiskTemplate.EXT: (str, str),
    DiskTemplate.FILE: (str, str),
    DiskTemplate.GLUSTER: (str, str),
    DiskTemplate.PLAIN: (str, str),
    DiskTemplate.RBD: (str, str),
    DiskTemplate.SHAREDFILE: (str, str),
}
FILE_BASED = frozenset({DiskTemplate.FILE, DiskTemplate.SHAREDFILE, DiskTemplate.GLUSTER})
DRBD_SECRET_AT = 5


class DrbdId(NamedTuple):
    """Where a mirror lives: two nodes (uuids), the TCP port between them, the minor on each, the shared secret."""

    node_a: str
    node_b: str
    port: int
    minor_a: int
    minor_b: int
    secret: str


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
        where: object = self.logical_id
        if self.logical_id is not None and self.dev_type is DiskTemplate.DRBD:
            where = (*self.logical_id[:DRBD_SECRET_AT], "<hidden>")
        return f"Disk(uuid={self.uuid!r}, dev_type={self.dev_type.value!r}, size={self.size}, logical_id={where!r})"


def logical_id_fault(template: DiskTemplate, logical_id: tuple[str | int, ...] | None) -> str | None:
    """What is wrong with a logical id; None when it fits its template. Never shows the id: it may hold a secret."""
    shape = LOGICAL_ID_SHAPES[template]
    found = tuple(type(part) for part in logical_id or ())
    if found == shape:
        return None
    return f"logical_id of a {template.value} disk must be {words(shape)}, got {words(found)}"


def words(shape: tuple[type, ...]) -> str:
    """A shape for people."""
    return "[" + ", ".join(kind.__name__ for kind in shape) + "]"


def drbd_id(disk: Disk) -> DrbdId:
    """The parts of a mirror's logical id. @raise ConfigurationError: the disk is no (complete) mirror."""
    parts = parts_of(disk, frozenset({DiskTemplate.DRBD}))
    node_a, node_b, port, minor_a, minor_b, secret = parts
    return DrbdId(str(node_a), str(node_b), int(port), int(minor_a), int(minor_b), str(secret))


def plain_id(disk: Disk) -> tuple[str, str]:
    """Volume group and logical volume. @raise ConfigurationError: the disk is no logical volume."""
    return pair(disk, frozenset({DiskTemplate.PLAIN}))


def file_id(disk: Disk) -> tuple[str, str]:
    """File driver and path. @raise ConfigurationError: the disk is not kept in a file."""
    return pair(disk, FILE_BASED)


def pair(disk: Disk, templates: frozenset[DiskTemplate]) -> tuple[str, str]:
    """The two words of a logical id of one of the templates."""
    first, second = parts_of(disk, templates)
    return str(first), str(second)


def parts_of(disk: Disk, templates: frozenset[DiskTemplate]) -> tuple[str | int, ...]:
    """The logical id of a disk that has one of the templates."""
    if disk.dev_type not in templates:
        wanted = ", ".join(sorted(templates))
        raise ConfigurationError(f"disk {disk.uuid} is of template {disk.dev_type.value}, not {wanted}")
    fault = logical_id_fault(disk.dev_type, disk.logical_id)
    if fault is not None:
        raise ConfigurationError(f"disk {disk.uuid}: {fault}")
    return disk.logical_id or ()
