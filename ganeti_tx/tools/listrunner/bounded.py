"""A program whose output is kept up to a limit; what it says beyond that is read, so that it goes on, and dropped."""

import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from attrs import define

from ganeti_tx.tools.listrunner.log_file import open_log

PIECE = 64 * 1024
#: Seconds after which it is looked whether the program has ended, though others hold its output open.
GLANCE = 0.2


@define
class Kept:
    """A log with at most so many bytes of what was said, and then a line that says so."""

    file: IO[bytes]
    room: int
    note: str
    full: bool = False

    def write(self, data: bytes) -> None:
        """Keep what there is room for."""
        self.file.write(data[: self.room])
        if len(data) > self.room and not self.full:
            self.full = True
            self.file.write(f"\n[{self.note}]\n".encode())
        self.room = max(0, self.room - len(data))


def run_bounded(argv: Sequence[str], given: bytes, log: Path, most: int, note: str, limit: float) -> int | None:
    """The exit status; None when its time is over. @raise OSError: it cannot be started, or no log written."""
    deadline = time.monotonic() + limit
    with (
        open_log(log) as file,
        subprocess.Popen(
            argv, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            talk(process, given, Kept(file, most, note), deadline)
            return process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()


def talk(process: subprocess.Popen[bytes], given: bytes, kept: Kept, deadline: float) -> None:
    """Give it its input and take its output, until it says no more, has ended or its time is over."""
    source, target = process.stdout, process.stdin
    assert source is not None and target is not None
    rest = memoryview(given)
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        os.set_blocking(target.fileno(), False)
        selector.register(target, selectors.EVENT_WRITE)
        while (left := deadline - time.monotonic()) > 0:
            ready = [key.fileobj for key, _events in selector.select(min(left, GLANCE))]
            if target in ready:
                rest = rest[written(target, rest) :]
                if not rest:
                    selector.unregister(target)
                    target.close()
            if source in ready:
                data = os.read(source.fileno(), PIECE)
                if not data:
                    return
                kept.write(data)
            elif not ready and process.poll() is not None:
                return


def written(target: IO[bytes], rest: memoryview) -> int:
    """How much of its input it has taken, or does not want."""
    try:
        return os.write(target.fileno(), rest[:PIECE]) if rest else 0
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(rest)
