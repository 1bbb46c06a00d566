"""ganeti-confd as a process on a root of its own."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import ganeti_tx
from ganeti_tx.confd.blocking import hold
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.poll import Peer, Poll
from ganeti_tx.confd.questions import ping
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.runtime.paths import Paths

ADDRESS = "127.0.0.1"
RAW_KEY = b"6d0f2a7c\n"
KEY = Key(RAW_KEY)
#: Seconds that it may take to start on a busy machine.
START_LIMIT = 300.0
CODE = "import sys; from ganeti_tx.{module} import {name}; sys.exit({name}())"


def free_port() -> int:
    """A UDP port that nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind((ADDRESS, 0))
        port: int = free.getsockname()[1]
        return port


class ConfdDaemon:
    """A node of one daemon; `start` returns when it answers, `stop` when it has ended."""

    def __init__(self, root: Path, config: ConfigData) -> None:
        self.paths = Paths(root)
        self.paths.data_dir.mkdir(parents=True)
        self.paths.hmac_key.write_bytes(RAW_KEY)
        self.put(config)
        self.peer = Peer(ADDRESS, free_port())
        self.process: subprocess.Popen[str] | None = None

    def put(self, config: ConfigData) -> None:
        """Replace the configuration, as wconfd and noded do."""
        new = self.paths.config_file.with_suffix(".new")
        new.write_bytes(encode(config))
        new.rename(self.paths.config_file)

    def start(self) -> None:
        """Let it run."""
        self.process = self.run("daemons", "confd", "--foreground", *self.place())
        deadline = time.monotonic() + START_LIMIT
        while not self.answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"ganeti-confd does not answer: {self.stop()}")

    def answers(self) -> bool:
        """Whether it does, be it with an error."""
        poll = Poll(KEY, ping(), "is it up", [self.peer], 0.2)
        hold(poll, time.time)
        return poll.enough()

    def place(self) -> list[str]:
        """Where it listens, as options."""
        return ["--bind", self.peer.host, "--port", str(self.peer.port)]

    def run(self, module: str, name: str, *options: str) -> "subprocess.Popen[str]":
        """A program of this node."""
        root = str(self.paths.root)
        source = str(Path(ganeti_tx.__file__).parents[1])
        return subprocess.Popen(
            [sys.executable, "-c", CODE.format(module=module, name=name), *options],
            env={**os.environ, "GANETI_ROOTDIR": root, "GANETI_HOSTNAME": ADDRESS, "PYTHONPATH": source},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def resident(self) -> int:
        """Its memory in bytes."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))

    def stop(self) -> str:
        """End it; its log."""
        if self.process is None:
            return ""
        self.process.terminate()
        log, _ = self.process.communicate(timeout=60)
        self.process = None
        return log
