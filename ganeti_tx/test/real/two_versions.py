"""A devcluster whose programs are an installation of their own, with room for another version beside it."""

import os
import subprocess
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.devcluster.layout import DevNode, Layout, load
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.test.real.installations import install

NEWER = "9.0.0"
LIMIT = 300.0


class TwoVersions:
    """Two nodes with the fake hypervisor; `close` ends every process."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "c"
        self.older, self.newer = directory / "tx", directory / f"tx-{NEWER}"

    def up(self) -> None:
        """The cluster, by the older version."""
        install(self.older, __version__)
        words = ["up", "--no-supervisor", "--nodes=2", "--", "--enabled-hypervisors=fake"]
        argv = [str(self.older / "bin/ganeti-devcluster"), "--root", str(self.root), *words]
        environment = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def install_newer(self) -> None:
        """On every node, which all see the same directories."""
        install(self.newer, NEWER)

    @property
    def layout(self) -> Layout:
        """As it was laid out."""
        return load(self.root)

    @property
    def nodes(self) -> tuple[DevNode, ...]:
        """The first is the master."""
        return self.layout.nodes

    def environment(self, prefix: Path, node: int = 1) -> dict[str, str]:
        """For a program of an installation on a node."""
        shell = f"{prefix}/bin/python -m ganeti_tx.devcluster.remote_shell"
        found = self.nodes[node - 1].environment(os.environ)
        return {**found, "GANETI_REMOTE_SHELL": shell, "PYTHONPATH": ""}

    def run(self, prefix: Path, *words: str, status: int | None = 0, node: int = 1) -> str:
        """What a program of an installation says, which must end so; with None, in any way."""
        done = subprocess.run(
            [str(prefix / "bin" / words[0]), *words[1:]],
            env=self.environment(prefix, node),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if status is not None and done.returncode != status:
            raise AssertionError(f"{words}: status {done.returncode}: {done.stdout}")
        return done.stdout

    def prefix_of(self, process: int) -> Path | None:
        """The installation whose programs a process runs; None of one that has ended."""
        try:
            words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
        except OSError:
            return None
        return next((each for each in (self.newer, self.older) if any(f"{each}/bin/" in word for word in words)), None)

    def close(self) -> None:
        """Leave no process."""
        end_all(self.root)
