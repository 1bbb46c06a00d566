"""Our programs as processes, run from the code under test with or without an installation, against a small devcluster."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ganeti_tx
from ganeti_tx.devcluster.layout import DevNode, Layout, plan
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import init_options, prepare

SOURCE = Path(ganeti_tx.__file__).parents[1]
DAEMONS = ("master", "luxid", "wconfd", "noded", "rapi", "confd", "mond", "metad")
NOUNS = ("cluster", "node", "instance", "job", "debug", "backup")
#: Seconds for whatever must happen; nothing here takes nearly so long.
LIMIT = 300.0


class Programs:
    """A node's programs, in a directory that is first on the search path."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "bin"
        #: Where Python looks besides.
        self.python_path: list[str] = []
        self._directory.mkdir()
        for daemon in DAEMONS:
            self._write(f"ganeti-{daemon}", f"from ganeti_tx.daemons import {daemon} as main")
        for noun in NOUNS:
            self._write(f"gnt-{noun}", f"from ganeti_tx.cli.main import gnt_{noun} as main")
        self._write("ganeti-bootstrap", "from ganeti_tx.bootstrap.main import main")

    def _write(self, name: str, line: str) -> None:
        program = self.path(name)
        program.write_text(f"#!{sys.executable}\nimport sys\n{line}\nsys.exit(main())\n")
        program.chmod(0o755)

    def environment(self, node: DevNode) -> dict[str, str]:
        """What they are started with."""
        path = f"{self._directory}:{os.environ.get('PATH', '/usr/bin:/bin')}"
        return node.environment({**os.environ, "PATH": path, "PYTHONPATH": ":".join([str(SOURCE), *self.python_path])})

    def path(self, program: str) -> Path:
        """Where one is."""
        return self._directory / program

    def run(self, node: DevNode, *argv: str) -> "subprocess.CompletedProcess[str]":
        """Run one to its end."""
        command = [str(self.path(argv[0])), *argv[1:]]
        return subprocess.run(
            command, env=self.environment(node), capture_output=True, text=True, timeout=LIMIT, check=False
        )

    def run_here(self, *argv: str) -> str:
        """What one says in this process's own environment. @raise CalledProcessError: it failed."""
        command = [str(self.path(argv[0])), *argv[1:]]
        environment = dict(os.environ)  # which a test may have changed
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=True)
        return done.stdout

    def start(self, node: DevNode, *argv: str) -> "subprocess.Popen[str]":
        """Start one that goes on."""
        return subprocess.Popen(
            [str(self.path(argv[0])), *argv[1:]],
            env=self.environment(node),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


class SmallCluster:
    """A devcluster of one node, with the fake hypervisor; `close` leaves nothing."""

    def __init__(self, count: int = 1) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="gtx")
        root = Path(self._directory.name) / "c"
        self.layout: Layout = plan(root, count)
        prepare(self.layout)
        self.programs = Programs(Path(self._directory.name))
        self.node = self.layout.master

    def init(self, hypervisor: str = "fake") -> None:
        """Make it a cluster."""
        options = [each for each in init_options(self.layout, []) if "hypervisors" not in each]
        self.must("gnt-cluster", "init", f"--enabled-hypervisors={hypervisor}", *options, self.layout.cluster_name)

    def must(self, *argv: str) -> str:
        """Run a command that must succeed; its output."""
        done = self.programs.run(self.node, *argv)
        if done.returncode != 0:
            raise AssertionError(f"{argv} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, program: str, command: str, *words: str) -> int:
        """Have a command submit its job and not wait; the job's id, which it tells on standard error."""
        done = self.programs.run(self.node, program, command, "--submit", *words)
        if done.returncode != 0 or not done.stderr.startswith("JobID: "):
            raise AssertionError(f"{command} --submit ended with {done.returncode}: {done.stdout}{done.stderr}")
        return int(done.stderr.split()[-1])

    def process(self, daemon: str) -> int:
        """The process id of a daemon."""
        return int((self.node.root / f"var/run/ganeti/{daemon}.pid").read_text())

    def end(self, daemon: str, number: signal.Signals) -> None:
        """Send a daemon a signal and wait until it is gone."""
        process = self.process(daemon)
        os.kill(process, number)
        until(lambda: is_gone(process), f"the end of {daemon}")

    def close(self) -> None:
        """End every process and remove the files."""
        end_all(self.layout.root)
        self._directory.cleanup()


def is_gone(process: int) -> bool:
    """Whether a process that is no child of ours ended; a zombie that nobody collects counts."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (OSError, IndexError):
        return True


def until(holds: Callable[[], bool], what: str, instead: Callable[[], str] = str) -> None:
    """Wait until something holds. @param instead: says what is so. @raise AssertionError: it does not in time."""
    deadline = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what} {instead()}".rstrip())
        time.sleep(0.05)
