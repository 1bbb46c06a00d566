"""Whatever the bytes of an image are, they are an image or are refused: one that is damaged ends nothing else."""

import os
import struct
from random import Random

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.file.qcow2_header import FEATURES, HEAD, MAGIC, MORE, SNAPSHOT, Qcow2Image, read_image

MIB = 1 << 20
#: Where the table of snapshots begins, and where its place and the size of the disk stand.
TABLE, AT_TABLE, AT_SIZE = 112, 64, 24
HIGHEST = struct.pack(">Q", 2**64 - 1)


def snapshot(number: int, name: bytes, size: int) -> bytes:
    """An entry as QEMU writes it."""
    entry = SNAPSHOT.pack(TABLE, 1, 1, len(name), 0, 0, 0, 0, MORE.size) + MORE.pack(0, size) + b"%d" % number + name
    return entry + b"\0" * (-len(entry) % 8)


WHOLE = (
    HEAD.pack(MAGIC, 3, 0, 0, 16, 64 * MIB, 0, 1, 0, 0, 1, 2, TABLE)
    + FEATURES.pack(0).ljust(TABLE - HEAD.size, b"\0")
    + snapshot(1, b"first", 32 * MIB)
    + snapshot(2, b"second12", 64 * MIB)
)


class HeaderTests(SynchronousTestCase):
    """Files that are images to some extent."""

    def read(self, content: bytes) -> Qcow2Image | None:
        """What it is; None when it is refused, with one line."""
        descriptor = os.memfd_create("image")
        try:
            os.write(descriptor, content)
            return read_image(descriptor)
        except BlockDeviceError as error:
            self.assertNotIn("\n", str(error))
            return None
        finally:
            os.close(descriptor)

    def with_bytes(self, at: int, what: bytes) -> bytes:
        """The image with other bytes at a place."""
        return WHOLE[:at] + what + WHOLE[at + len(what) :]

    def test_whole(self) -> None:
        """Each snapshot has its own size."""
        self.assertEqual(self.read(WHOLE), Qcow2Image(64 * MIB, {"first": 32 * MIB, "second12": 64 * MIB}))

    def test_cut_off(self) -> None:
        """Wherever it ends before the last name does, it is refused."""
        end = WHOLE.index(b"second12") + len(b"second12")
        self.assertEqual([length for length in range(end) if self.read(WHOLE[:length]) is not None], [])
        self.assertIsNotNone(self.read(WHOLE[:end]))

    def test_led_behind(self) -> None:
        """Places that no file has are refused; a size is what it says."""
        for at in (HIGHEST, struct.pack(">Q", 2**63 - 1), struct.pack(">Q", 2**63 - 41)):
            self.assertIsNone(self.read(self.with_bytes(AT_TABLE, at)))
        of_more = self.with_bytes(TABLE + SNAPSHOT.size - 4, b"\xff" * 4)
        self.assertIsNone(self.read(of_more))
        found = self.read(self.with_bytes(AT_SIZE, HIGHEST))
        self.assertEqual(found and found.size, 2**64 - 1)

    def test_random(self) -> None:
        """Bytes that are anything bring up nothing else than a refusal."""
        random = Random(1)
        for _ in range(2000):
            content = bytearray(WHOLE)
            for _ in range(random.randint(1, 4)):
                at, length = random.randrange(4, len(content)), random.choice((1, 2, 4, 8))
                content[at : at + length] = random.choice((b"\xff" * length, b"\0" * length, random.randbytes(length)))
            self.read(bytes(content))
