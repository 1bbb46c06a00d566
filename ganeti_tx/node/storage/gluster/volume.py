"""Which volume of Gluster a disk lies on, and where in it."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.instance_spec import DiskSpec

#: The file system of Gluster that FUSE serves, as the kernel calls it.
GLUSTER = "fuse.glusterfs"
#: What `mount` and QEMU both take as a host, of names and addresses alike, and as the name of a volume.
HOST = re.compile(r"(?!-)[A-Za-z0-9.:-]{1,255}")
VOLUME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,255}")
MAX_PORT = 65535


@frozen
class GlusterVolume:
    """A volume as one of its servers has it."""

    host: str
    port: int
    name: str

    @property
    def source(self) -> str:
        """What is mounted, as the kernel tells it, too; the port is not part of it."""
        return f"{self.host}:/{self.name}"

    def uri(self, path: str) -> str:
        """How QEMU opens a file of it."""
        return f"gluster://{host_port(self.host, self.port)}/{self.name}/{quote(path)}"


@frozen
class Location:
    """A disk: its volume, the directory that this is mounted in, and the file's path below that."""

    volume: GlusterVolume
    directory: Path
    path: str


def location_of(disk: DiskSpec) -> Location:
    """@raise BlockDeviceError: the disk's logical id or its parameters name no file of a volume."""
    parts = disk.logical_id
    if parts is None or len(parts) != 2 or not isinstance(parts[1], str):
        raise BlockDeviceError(f"the logical id of a {disk.dev_type} disk is [driver, path], not {parts!r}")
    path = Path(parts[1])
    if not path.is_absolute() or ".." in path.parts or len(path.parts) < 4:
        raise BlockDeviceError(
            f"{disk.dev_type} disk {parts[1]}: its path must be DIRECTORY/ganeti/NAME, DIRECTORY being where its volume is mounted"
        )
    directory = path.parent.parent
    return Location(volume_of(disk.params, f"{disk.dev_type} disk {path}"), directory, str(path.relative_to(directory)))


def volume_of(params: dict[str, Any], what: str) -> GlusterVolume:
    """The volume that disk parameters name. @raise BlockDeviceError: they name none; these are words of programs."""
    host, port, name = params.get("host"), params.get("port"), params.get("volume")
    if not isinstance(host, str) or HOST.fullmatch(host) is None:
        raise BlockDeviceError(f"{what}: host {host!r:.300} is no name and no address of a server of Gluster")
    if not isinstance(port, int) or not 0 < port <= MAX_PORT:
        raise BlockDeviceError(f"{what}: port {port!r:.100} is not allowed; allowed are 1 to {MAX_PORT}")
    if not isinstance(name, str) or VOLUME.fullmatch(name) is None:
        raise BlockDeviceError(
            f"{what}: volume {name!r:.300} is no name of a volume; allowed are letters, digits, - _ and ."
        )
    return GlusterVolume(host, port, name)
