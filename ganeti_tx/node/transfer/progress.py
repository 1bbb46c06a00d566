"""How far a transfer is, written down for whoever asks the node daemon."""

import os
import time
from collections import deque
from pathlib import Path

import msgspec
from attrs import define, field

from ganeti_tx.node.transfer.spec import STATUS, Status

MIB = 1 << 20
#: Seconds between two writes when nothing else happens, and those of which the throughput is the mean.
RHYTHM, WINDOW = 5.0, 60.0
MODE = 0o400


@define
class Progress:
    """Counts bytes, and keeps the status file up to date."""

    directory: Path
    size: int
    status: Status = field(factory=lambda: Status(ctime=time.time()))
    _bytes: int = 0
    _written: float = 0.0
    _samples: deque[tuple[float, int]] = field(factory=deque)

    def count(self, number: int) -> None:
        """So many bytes more have gone through."""
        self._bytes += number
        if time.monotonic() - self._written >= RHYTHM:
            self._sample()
            self.write()

    def expect(self, size: int) -> None:
        """So many MiB will go through, as somebody says meanwhile."""
        self.size = max(0, size)

    def write(self) -> None:
        """Replace the file."""
        self.status.mtime = time.time()
        fresh = self.directory / f"{STATUS}.new"
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "wb") as file:
            file.write(msgspec.json.encode(self.status))
        fresh.replace(self.directory / STATUS)
        self._written = time.monotonic()

    def ended(self, exit_status: int, error: str | None = None) -> None:
        """It is over."""
        self._sample()
        self.status.exit_status, self.status.error_message = exit_status, error
        self.write()

    def _sample(self) -> None:
        now = time.monotonic()
        self._samples.append((now, self._bytes))
        while now - self._samples[0][0] > WINDOW:
            self._samples.popleft()
        first, before = self._samples[0]
        self.status.progress_mbytes = done = self._bytes // MIB
        if now > first:
            self.status.progress_throughput = (self._bytes - before) / MIB / (now - first)
        if self.size:
            self.status.progress_percent = min(100.0, 100.0 * done / self.size)
            if self.status.progress_throughput:
                self.status.progress_eta = max(0, self.size - done) / self.status.progress_throughput
