"""Which image a disk is."""

from typing import Any

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec

#: What has a meaning where an image is named to Ceph's programs.
SIGNS = "/@\0\n"
#: What has one in the name by which QEMU opens an image.
ESCAPED = "\\:@/="


@frozen
class Image:
    """An image by its pool and its name there."""

    pool: str
    name: str

    @property
    def spec(self) -> str:
        """As Ceph's programs are told."""
        return f"{self.pool}/{self.name}"

    @property
    def path(self) -> str:
        """The name that udev gives its device, while it has one."""
        return f"/dev/rbd/{self.spec}"

    @property
    def label(self) -> str:
        """For people."""
        return f"rbd image {self.spec}"

    def uri(self, conf: str | None) -> str:
        """By what QEMU opens it; `conf` is Ceph's configuration where it is not at its own place."""
        told = "" if conf is None else f":conf={escaped(conf)}"
        return f"rbd:{escaped(self.pool)}/{escaped(self.name)}{told}"


def escaped(part: str) -> str:
    """A part of QEMU's name of an image."""
    return "".join(f"\\{sign}" if sign in ESCAPED else sign for sign in part)


def image_of(disk: DiskSpec, logical_id: list[Any] | None = None) -> Image:
    """The image of a disk, or of the logical id that it is to have. @raise BlockDeviceError: there can be none of that name."""
    parts = disk.logical_id if logical_id is None else logical_id
    if parts is None or len(parts) != 2 or parts[0] != "rbd":
        raise BlockDeviceError(f"the logical id of an rbd disk is ['rbd', image], not {parts!r}")
    pool = disk.params.get("pool", "rbd")
    for what, name in (("pool", pool), ("image", parts[1])):
        if not is_plain(name):
            raise BlockDeviceError(
                f"{name!r} is no name of an rbd {what}: it has no '/' and no '@', and begins with no '-'"
            )
    return Image(pool, parts[1])


def is_plain(name: Any) -> bool:
    """Whether a pool or an image can be called so."""
    return isinstance(name, str) and name != "" and name[0] != "-" and not any(sign in name for sign in SIGNS)
