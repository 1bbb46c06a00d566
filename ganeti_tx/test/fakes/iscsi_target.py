"""A real tgtd with a control port of its own, for tests."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from unittest import SkipTest

from attrs import define, field

#: Seconds until it answers.
START_LIMIT = 60.0
#: Where it has the socket of its control port.
SOCKETS = Path("/var/run/tgtd")


def need_tgt() -> None:
    """@raise SkipTest: this machine, or who runs the tests, cannot have one."""
    for program, package in (("tgtd", "tgt"), ("iscsi-readcapacity16", "libiscsi-bin")):
        if shutil.which(program) is None:
            raise SkipTest(f"{program} is not here; apt install {package}")
    if os.geteuid() != 0:
        raise SkipTest("tgtd needs root")


@define
class Target:
    """It listens at a port of the loopback interface. @ivar directory: with what it says."""

    directory: Path
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    @property
    def control(self) -> int:
        """The number of its control port, below 32768: that of nobody else."""
        return self.port % 32768

    def start(self) -> None:
        """Until it answers. @raise AssertionError: it does not."""
        with (self.directory / "tgtd.log").open("wb") as log:
            command = ["tgtd", "-f", "-C", str(self.control), "--iscsi", f"portal=127.0.0.1:{self.port}"]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + START_LIMIT
        while self.tell("show", "target").returncode != 0:
            assert time.monotonic() < end and self.process.poll() is None, (self.directory / "tgtd.log").read_text()
            time.sleep(0.05)

    def tell(self, operation: str, mode: str, *more: str) -> "subprocess.CompletedProcess[bytes]":
        """What tgtadm does, and says."""
        words = ["tgtadm", "-C", str(self.control), "--lld", "iscsi", "--op", operation, "--mode", mode, *more]
        return subprocess.run(words, capture_output=True, check=False)

    def stop(self) -> None:
        """Leave nothing of it."""
        if self.process is not None:
            self.process.kill()  # with targets it does not end otherwise
            self.process.wait()
        for path in SOCKETS.glob(f"socket.{self.control}*"):
            path.unlink()
