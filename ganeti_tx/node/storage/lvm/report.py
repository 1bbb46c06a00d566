"""What lvs, vgs and pvs print: each kind of row is a type whose fields are the columns that are asked for."""

import re
from typing import TypeVar

import msgspec

from ganeti_tx.errors import BlockDeviceError

MIB = 1 << 20
#: A device in a segment's list, before the number of its first extent.
DEVICE = re.compile(r"([^,(]+)\(\d+\)")


class LogicalVolume(msgspec.Struct, frozen=True, kw_only=True):
    """A logical volume; sizes are bytes. `origin_size` is empty for what is neither a snapshot nor has any."""

    vg_name: str
    lv_name: str
    lv_size: int
    origin_size: str
    lv_attr: str
    lv_tags: str
    lv_kernel_major: int
    lv_kernel_minor: int

    @property
    def size(self) -> int:
        """MiB that can be read; the size of a snapshot is the room for what changes."""
        return int(self.origin_size or self.lv_size) // MIB

    @property
    def tags(self) -> list[str]:
        """In LVM's order."""
        return [tag for tag in self.lv_tags.split(",") if tag]

    @property
    def active(self) -> bool:
        """There is a device for it."""
        return self.lv_attr[4:5] == "a"

    @property
    def in_use(self) -> bool:
        """Something has the device open."""
        return self.lv_attr[5:6] == "o"

    @property
    def has_own_device(self) -> bool:
        """It becomes active and inactive alone: a snapshot does only together with what it is of."""
        return self.lv_attr[:1] not in ("o", "O", "s", "S")

    @property
    def broken(self) -> bool:
        """A part of it is gone: a physical volume is missing, nothing is behind it, or a snapshot is full (lvs(8))."""
        return self.lv_attr[8:9] in ("p", "X") or self.lv_attr[:1] == "v" or self.lv_attr[4:5] in ("I", "S")


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a logical volume; `devices` are those it lies on with extents, such as "/dev/sda(0),/dev/sdb(12)"."""

    vg_name: str
    lv_name: str
    lv_size: int
    lv_attr: str
    devices: str

    @property
    def upon(self) -> list[str]:
        """The physical volumes; what is only mapped to others lies on none."""
        return DEVICE.findall(self.devices)


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A volume group; sizes are bytes."""

    vg_name: str
    vg_size: int
    vg_free: int
    vg_extent_size: int
    vg_attr: str

    @property
    def partial(self) -> bool:
        """Physical volumes of it are not there."""
        return self.vg_attr[3:4] == "p"


class Physical(msgspec.Struct, frozen=True, kw_only=True):
    """A physical volume; sizes are bytes. One that is not there is named "[unknown]"; one in no group has no group."""

    pv_name: str
    vg_name: str
    pv_size: int
    pv_free: int
    pv_used: int
    pv_attr: str
    vg_extent_size: int

    @property
    def allocatable(self) -> bool:
        """Whether new volumes may lie on it."""
        return self.pv_attr[:1] == "a"

    @property
    def missing(self) -> bool:
        """Its device is not there."""
        return self.pv_attr[2:3] == "m"


#: The program that reports each kind of row, and what it calls one.
REPORTS: dict[type[msgspec.Struct], tuple[str, str]] = {
    LogicalVolume: ("lvs", "lv"),
    Segment: ("lvs", "lv"),
    Group: ("vgs", "vg"),
    Physical: ("pvs", "pv"),
}

Row = TypeVar("Row", bound=msgspec.Struct)


class _Report(msgspec.Struct):
    report: list[dict[str, list[msgspec.Raw]]]


def report_argv(kind: type[msgspec.Struct], select: str = "") -> list[str]:
    """The command that prints rows of a kind, all or those that are selected."""
    program, _ = REPORTS[kind]
    columns = ",".join(kind.__struct_fields__)
    argv = [program, "--reportformat", "json", "--units", "b", "--nosuffix", "--options", columns]
    return [*argv, "--select", select] if select else argv


def parse(kind: type[Row], text: bytes) -> list[Row]:
    """The rows. @raise BlockDeviceError: it is no such report."""
    program, word = REPORTS[kind]
    try:
        found = msgspec.json.decode(text, type=_Report).report
        rows = [row for each in found for row in each.get(word, [])]
        return [msgspec.json.decode(row, type=kind, strict=False) for row in rows]
    except msgspec.MsgspecError as error:
        raise BlockDeviceError(f"cannot read what {program} printed: {error}; it begins with {text[:200]!r}") from None
