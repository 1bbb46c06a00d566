"""The commands that read and write the bytes of a disk, for exports, moves and conversions; none runs in a shell."""

from collections.abc import Sequence

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import IStream
from ganeti_tx.node.storage.interfaces import IStorage

BLOCK = "bs=1M"


def read_command(storage: IStorage, disk: DiskSpec, status: BlockDevStatus) -> Sequence[str]:
    """What prints the bytes of a disk that is ready."""
    if IStream.providedBy(storage):
        own: Sequence[str] = IStream(storage).read_command(disk)
        return own
    return ["dd", BLOCK, "status=none", f"if={status.dev_path}"]


def write_command(storage: IStorage, disk: DiskSpec, status: BlockDevStatus) -> Sequence[str]:
    """What fills a disk that is ready with the bytes that it reads; the disk's size stays."""
    if IStream.providedBy(storage):
        own: Sequence[str] = IStream(storage).write_command(disk)
        return own
    return ["dd", BLOCK, "status=none", "iflag=fullblock", "conv=nocreat,notrunc,fsync", f"of={status.dev_path}"]
