"""What the program `rbd` is told; sizes are MiB."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.node.storage.rbd import filling
from ganeti_tx.node.storage.rbd.image import Image

#: Seconds after which an answer of the cluster is not waited for any longer; Ceph's own limit are five minutes.
PATIENCE = 20


def program(conf: str | None) -> list[str]:
    """How it begins. @param conf: Ceph's configuration where it is not at its own place."""
    told = [] if conf is None else ["--conf", conf]
    return ["rbd", *told, "--client_mount_timeout", str(PATIENCE)]


def info(image: Image) -> list[str]:
    """What there is."""
    return ["info", "--format", "json", image.spec]


def mapped() -> list[str]:
    """The images that have a device of this node's kernel; older versions know it by no other word."""
    return ["showmapped", "--format", "json"]


def create(image: Image, size: int) -> list[str]:
    """A new image, with the features that the administrator wants images to have."""
    return ["create", "--size", str(size), image.spec]


def remove(image: Image) -> list[str]:
    """With all that is in it."""
    return ["rm", "--no-progress", image.spec]


def resize(image: Image, size: int) -> list[str]:
    """It never gets smaller so."""
    return ["resize", "--no-progress", "--size", str(size), image.spec]


def rename(image: Image, new: Image) -> list[str]:
    """In the same pool."""
    return ["rename", image.spec, new.spec]


def attach(image: Image) -> list[str]:
    """Make a device of this node's kernel for it."""
    return ["map", image.spec]


def detach(device: str) -> list[str]:
    """Take a device away."""
    return ["unmap", device]


def mark(image: Image, key: str, text: str) -> list[str]:
    """Set what an administrator sees by `rbd image-meta list`."""
    return ["image-meta", "set", image.spec, key, text]


def snapshot(image: Image, name: str) -> list[str]:
    """Keep the present state."""
    return ["snap", "create", "--no-progress", f"{image.spec}@{name}"]


def drop_snapshot(image: Image, name: str) -> list[str]:
    """Give a state up; what was cloned of it keeps it, out of sight, as long as it needs it."""
    return ["snap", "rm", "--no-progress", f"{image.spec}@{name}"]


def clone(image: Image, name: str, made: Image) -> list[str]:
    """A new image with a state that was kept; by the format in which that needs no protection."""
    return ["clone", "--rbd-default-clone-format", "2", f"{image.spec}@{name}", made.spec]


def space(conf: str | None) -> list[str]:
    """What all pools have, and can take; another program tells."""
    told = [] if conf is None else ["--conf", conf]
    return ["ceph", *told, "--connect-timeout", str(PATIENCE), "df", "--format", "json"]


def pool_words(pool: str) -> list[str]:
    """A question to a pool that is quickly answered, however many images it has."""
    return ["namespace", "ls", "--format", "json", pool]


def read_command(conf: str | None, image: Image) -> list[str]:
    """What prints the bytes of an image; no device is needed."""
    return [*program(conf), "export", "--no-progress", image.spec, "-"]


def write_command(conf: str | None, image: Image) -> Sequence[str]:
    """What fills an image that is there; what is zeros in it keeps its room free."""
    taking = [*program(conf), "import-diff", "--no-progress", "-", image.spec]
    return [sys.executable, "-I", "-S", str(Path(filling.__file__)), *taking]
