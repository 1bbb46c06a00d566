"""A program by itself: what it reads becomes the changes of an image in Ceph's own form, for the command that it is told.

`rbd import` makes an image anew, with a size that nobody chose; `rbd import-diff` fills one that is there.
"""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

#: What such changes begin and end with (Ceph: dev/rbd-diff), and what one piece of data begins with.
BEGIN, END, DATA = b"rbd diff v1\n", b"e", b"w"
PIECE = 1 << 20


def fill(source: IO[bytes], target: IO[bytes]) -> None:
    """Hand all that is read over but for the zeros, which a new image has already."""
    target.write(BEGIN)
    offset = 0
    while piece := source.read(PIECE):
        if piece.count(0) != len(piece):
            target.write(DATA + offset.to_bytes(8, "little") + len(piece).to_bytes(8, "little") + piece)
        offset += len(piece)
    target.write(END)
    target.flush()


def main(command: Sequence[str]) -> int:
    """The exit status of the command."""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as taking:
        assert taking.stdin is not None
        with suppress(BrokenPipeError), taking.stdin as target:  # what has ended says itself why
            fill(sys.stdin.buffer, target)
        return taking.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
