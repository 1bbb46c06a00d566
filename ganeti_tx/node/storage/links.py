"""The stable names of an instance's disks: RUN/instance-disks/INSTANCE:INDEX leads to the disk while it is in use."""

import os
from contextlib import suppress
from pathlib import Path

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.runtime.paths import Paths

DIRECTORY_MODE = 0o755


def disk_link(paths: Paths, instance_name: str, index: int) -> Path:
    """The link's name. @raise BlockDeviceError: the instance's name cannot be part of one."""
    if not instance_name or "/" in instance_name or "\0" in instance_name or index < 0:
        raise BlockDeviceError(f"no link can be named after disk {index} of instance {instance_name!r}")
    return paths.instance_disks_dir / f"{instance_name}:{index}"


def link_disk(paths: Paths, instance_name: str, index: int, dev_path: str) -> Path:
    """Let the link lead to the disk, whatever it led to before; blocking. Gives the link.

    @raise BlockDeviceError: it cannot be made.
    """
    link = disk_link(paths, instance_name, index)
    fresh = link.with_name(f".{link.name}.new")
    try:
        link.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            fresh.unlink()
        fresh.symlink_to(dev_path)
        os.replace(fresh, link)
    except OSError as error:
        raise BlockDeviceError(f"cannot link {link} to {dev_path}: {error.strerror}")
    return link


def unlink_disk(paths: Paths, instance_name: str, index: int) -> None:
    """Remove the link if it is there; blocking. @raise BlockDeviceError: it stays."""
    link = disk_link(paths, instance_name, index)
    try:
        link.unlink(missing_ok=True)
    except OSError as error:
        raise BlockDeviceError(f"cannot remove {link}: {error.strerror}")
