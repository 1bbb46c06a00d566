"""What stands at the beginning of a qcow2 image, and which snapshots are in it (QEMU's docs/interop/qcow2.txt).

Only QEMU writes it, and only what this cluster had it make: it never leads to another file, whose bytes a guest would get.
"""

import os
import struct
from collections.abc import Iterator

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError

MAGIC = b"QFI\xfb"
#: magic, version, backing file (offset, length), bits of a cluster, size, encryption, L1 table (length, offset), refcounts
#: (offset, clusters), snapshots (number, offset); then, since version 3, the features without which nobody may open it.
HEAD = struct.Struct(">4sIQIIQIIQQIIQ")
FEATURES = struct.Struct(">Q")
VERSIONS = (2, 3)
#: Open before a crash, compressed otherwise than by default, entries of another length: QEMU knows what to do.
HARMLESS = 1 << 0 | 1 << 3 | 1 << 4
CORRUPT, DATA_FILE = 1 << 1, 1 << 2
#: L1 table (offset, length), lengths of id and name, times, lengths of what a machine had and of more that is told.
SNAPSHOT = struct.Struct(">QIHHIIQII")
#: Of that which is told more: the length of what a machine had, and the size of the disk.
MORE = struct.Struct(">QQ")
MAX_SNAPSHOTS = 1000
ALIGNED = 8
#: No file has bytes behind that.
LAST = (1 << 63) - 1


@frozen
class Qcow2Image:
    """One that may be used. @ivar size: bytes that a guest sees. @ivar snapshots: those sizes by the names of snapshots."""

    size: int
    snapshots: dict[str, int]


def read_image(descriptor: int) -> Qcow2Image:
    """@raise BlockDeviceError: it is no such image, is damaged, or leads to another file."""
    head = os.pread(descriptor, HEAD.size, 0)
    if len(head) < HEAD.size or not head.startswith(MAGIC):
        raise BlockDeviceError("it is no image of format qcow2")
    _, version, backing, _, _, size, encryption, _, _, _, _, count, offset = HEAD.unpack(head)
    if version not in VERSIONS:
        raise BlockDeviceError(f"it is an image of format qcow2, version {version}; known are 2 and 3")
    if backing:
        raise BlockDeviceError("its image is made upon another file, which no disk of a cluster is")
    if encryption:
        raise BlockDeviceError("its image is encrypted, which no disk of a cluster is")
    if version > VERSIONS[0]:
        check_features(part(descriptor, FEATURES.size, HEAD.size))
    if count > MAX_SNAPSHOTS:
        raise BlockDeviceError(f"its image has {count} snapshots; at most {MAX_SNAPSHOTS} are read")
    return Qcow2Image(size, dict(read_snapshots(descriptor, count, offset, size)))


def check_features(text: bytes) -> None:
    """@raise BlockDeviceError: there is one with which it cannot be used."""
    [features] = FEATURES.unpack(text)
    if features & DATA_FILE:
        raise BlockDeviceError("the data of its image are in another file, which those of no disk of a cluster are")
    if features & CORRUPT:
        raise BlockDeviceError("QEMU has marked its image as corrupt; 'qemu-img check' tells more")
    if unknown := features & ~(HARMLESS | CORRUPT | DATA_FILE):
        raise BlockDeviceError(f"its image has features that are not known: {unknown:#x}")


def read_snapshots(descriptor: int, count: int, offset: int, size: int) -> Iterator[tuple[str, int]]:
    """The name of each, and the bytes that a guest saw; those of the disk where none are told."""
    for _ in range(count):
        _, _, of_id, of_name, _, _, _, _, of_more = SNAPSHOT.unpack(part(descriptor, SNAPSHOT.size, offset))
        offset += SNAPSHOT.size
        seen = MORE.unpack(part(descriptor, MORE.size, offset))[1] if of_more >= MORE.size else size
        offset += of_more + of_id
        yield part(descriptor, of_name, offset).decode("utf-8", "replace"), seen
        offset += of_name
        offset += -offset % ALIGNED


def part(descriptor: int, length: int, offset: int) -> bytes:
    """Bytes that must be there. @raise BlockDeviceError: the image ends before."""
    if offset + length <= LAST:
        data = os.pread(descriptor, length, offset)
        if len(data) == length:
            return data
    raise BlockDeviceError(f"its image is cut off: it leads to byte {offset}, where it has no {length} more")
