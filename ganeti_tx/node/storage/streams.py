"""The commands that read and write the bytes of a disk, for exports, moves and conversions; none runs in a shell."""

from collections.abc import Sequence

from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import IStream
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.node.storage.views import view_of

BLOCK = "bs=1M"
FILLING = ("dd", "status=none", "iflag=fullblock")
#: A new file has zeros already: blocks of zeros are left out, which keeps their room free. A large image has many small ones.
HOLES = ("ibs=1M", "obs=64k")

#: MiB that a disk may be longer elsewhere than it was asked for, as volumes are of whole extents (of each stripe) or GiB.
EXTENT = 1024


def read_command(storage: IStorage, disk: DiskSpec, status: BlockDevStatus) -> Sequence[str]:
    """What prints the bytes of a disk that is ready."""
    if IStream.providedBy(storage):
        own: Sequence[str] = IStream(storage).read_command(disk)
        return own
    view = view_of(storage, disk, status.dev_path, writable=False)
    return [*view.prefix, "dd", BLOCK, "status=none", f"if={view.path}"]


def write_command(storage: IStorage, disk: DiskSpec, status: BlockDevStatus) -> Sequence[str]:
    """What fills a disk that is new and ready with the bytes that it reads; the disk's size stays, and a file's holes do."""
    if IStream.providedBy(storage):
        own: Sequence[str] = IStream(storage).write_command(disk)
        return own
    view = view_of(storage, disk, status.dev_path, writable=True)
    if TEMPLATES[DiskTemplate(disk.dev_type)].in_files:
        return [*view.prefix, *FILLING, *HOLES, "conv=nocreat,notrunc,fsync,sparse", f"of={view.path}"]
    return [*view.prefix, *FILLING, BLOCK, "conv=nocreat,notrunc,fsync", f"of={view.path}"]


def amounts(storage: IStorage, disk: DiskSpec) -> tuple[int, int]:
    """The MiB that must come at least for what `write_command` fills, and those that may; 0 where that is of no concern.

    A device takes no more than it has, but a file does; what a guest sees of an image is as long as its disk.
    """
    if IStream.providedBy(storage) or not TEMPLATES[DiskTemplate(disk.dev_type)].in_files:
        return disk.size, 0
    return disk.size, disk.size if disk.format == QCOW2 else disk.size + EXTENT
