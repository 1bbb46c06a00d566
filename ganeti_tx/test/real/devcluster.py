"""Devclusters for tests: brought up when first needed, shared, and taken down when this process ends."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.devcluster.layout import Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import up
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.command_line import command_line

COMMAND_LIMIT = 300.0


class DevClusterUnderTest:
    """Three nodes below /tmp; `close` ends every process and removes everything."""

    def __init__(self, options: Sequence[str] = (), nodes: int = 3) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="gtx", dir="/tmp"))
        root = self.directory / "c"
        try:
            self.layout: Layout = up(root, nodes, list(options))
        except BaseException:  # also when the tests are interrupted
            end_all(root)
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def run(self, words: Sequence[str], timeout: float = COMMAND_LIMIT) -> tuple[int, str, str]:
        """One command on the master: its exit status, what it wrote, what it complained of."""
        program = Path(sys.executable).parent / words[0]
        done = subprocess.run(
            [str(program), *words[1:]],
            env=self.layout.master.environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def ok(self, line: str) -> str:
        """What a command that must succeed wrote."""
        status, out, err = self.run(line.split())
        if status != 0:
            raise AssertionError(f"{line!r} ended with {status}: {out}{err}")
        return out

    def machines(self, name: str) -> list[str]:
        """The nodes, by the first part of their names, with a QEMU of an instance."""
        words = [command_line(pid) for pid in processes_of(self.layout.root)]
        files = [Path(os.fsdecode(line[line.index(b"-pidfile") + 1])) for line in words if b"-pidfile" in line]
        roots = {parent for path in files if path.name == name for parent in path.parents}
        return [node.name.split(".")[0] for node in self.layout.nodes if node.root in roots]

    def close(self) -> None:
        """Leave nothing."""
        end_all(self.layout.root)
        shutil.rmtree(self.directory, ignore_errors=True)


_up: dict[tuple[str, ...], DevClusterUnderTest] = {}


def cluster_with(options: tuple[str, ...]) -> DevClusterUnderTest:
    """The devcluster that was made with these options of `gnt-cluster init`."""
    if options not in _up:
        _up[options] = DevClusterUnderTest(options)
        atexit.register(_up[options].close)
    return _up[options]


def commands_are_installed() -> bool:
    """Whether the commands are beside this Python."""
    return (Path(sys.executable).parent / "gnt-cluster").exists()
