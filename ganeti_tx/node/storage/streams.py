"""The commands that read and write the bytes of a disk, for exports, moves and conversions; none runs in a shell."""

from collections.abc import Sequence

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import IStream
from ganeti_tx.node.storage.interfaces import IStorage

BLOCK = "bs=1M"
FILLING = ("dd", "status=none", "iflag=fullblock")
#: A new file has zeros already: blocks of zeros are left out, which keeps their room free. A large image has many small ones.
HOLES = ("ibs=1M", "obs=64k")


def read_command(storage: IStorage, disk: DiskSpec, status: BlockDevStatus) -> Sequence[str]:
    """What prints the bytes of a disk that is ready."""
    if IStream.providedBy(storage):
        own: Sequence[str] = IStream(storage).read_command(disk)
        return own
    return ["dd", BLOCK, "status=none", f"if={status.dev_path}"]


def write_command(storage: IStorage, disk: DiskSpec, status: BlockDevStatus) -> Sequence[str]:
    """What fills a disk that is new and ready with the bytes that it reads; the disk's size stays, and a file's holes do."""
    if IStream.providedBy(storage):
        own: Sequence[str] = IStream(storage).write_command(disk)
        return own
    if TEMPLATES[DiskTemplate(disk.dev_type)].in_files:
        return [*FILLING, *HOLES, "conv=nocreat,notrunc,fsync,sparse", f"of={status.dev_path}"]
    return [*FILLING, BLOCK, "conv=nocreat,notrunc,fsync", f"of={status.dev_path}"]
