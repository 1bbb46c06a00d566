"""Runs the command lines of a record on the cluster's nodes."""

import io
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define

from ganeti_tx.bootstrap.cluster_settings import check_params
from ganeti_tx.bootstrap.init import check_storage, init, is_member
from ganeti_tx.bootstrap.join_documents import JoinRequest
from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.bootstrap.settings import read_settings
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.cli.session import connect_to_master
from ganeti_tx.errors import ExitCode
from ganeti_tx.luxi.client import Client
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import MAX_FILE, Commands, DrivingClient
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.recorded_instances.terminal import Keyboard, Screen
from ganeti_tx.test.inprocess.recorded_programs.circumstances import Circumstances
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed, renumbered

#: The one file that was copied.
COPIED = "/root/copyme"


@define
class Shell:
    """Root's on any node."""

    circumstances: Circumstances

    @property
    def cluster(self) -> InProcessCluster:
        """Whose nodes they are."""
        return self.circumstances.cluster

    @property
    def directory(self) -> Path:
        """That has root's files."""
        return self.circumstances.directory

    def run(self, line: Mapping[str, Any]) -> Printed:
        """One line of the record."""
        given = [renumbered(recorded.here(word), self.circumstances.jobs) for word in line["argv"]]
        if "rule" in line:
            given = [self.circumstances.rule(line["rule"]) if word == "<UUID>" else word for word in given]
        program, *words = [word.replace("/root/", f"{self.directory}/") for word in given]
        screen = Screen() if "typed" in line else None
        out, err = screen or io.StringIO(), screen or io.StringIO()
        node = self.cluster.node(int(line.get("at", line.get("node") or self.cluster.master.name.split(".")[0])[4:]))
        luxi = DrivingClient(self.cluster)
        commands = Commands(self.cluster)
        usual = commands.context(luxi, out, err)
        environ = {"GANETI_HOSTNAME": node.name, "GANETI_ROOTDIR": str(self.directory / node.name)}
        context = usual._replace(
            environ=environ,
            stdin=Keyboard(line["typed"], screen) if screen else io.StringIO(line.get("stdin", "")),
            connect=self._connection(node, luxi, environ),
            read=lambda path: self._read(node, environ["GANETI_ROOTDIR"], path),
            connect_to=lambda path, daemon: usual.connect_to(path.removeprefix(environ["GANETI_ROOTDIR"]), daemon),
            run=lambda argv, document: (
                self._execute(argv) if document is None else self._bootstrap(node, usual, argv, document)
            ),
            capture=lambda argv: self._capture(node, argv),
        )
        try:
            status = int(run(program_named(program), words, context))
        finally:
            luxi.close()
        here = [
            text.replace(environ["GANETI_ROOTDIR"], "").replace(f"{self.directory}/", "/root/")
            for text in (out.getvalue(), err.getvalue())
        ]
        return Printed(status, here[0], "" if screen else here[1])

    def _connection(self, node: SimulatedNode, luxi: Client, environ: Mapping[str, str]) -> Callable[[], Client]:
        """Of one that is not the master what commands find there is its file of the master's name."""
        if node is self.cluster.master:
            return lambda: luxi
        known = self.cluster.paths.ssconf_file("master_node")
        if node.disk.exists(known):
            path = Path(environ["GANETI_ROOTDIR"] + "/var/lib/ganeti/ssconf_master_node")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(node.disk.read(known, MAX_FILE).decode())
        return lambda: connect_to_master(environ)

    def _read(self, node: SimulatedNode, root: str, path: str) -> str:
        return node.disk.read(Path(path.removeprefix(root)), MAX_FILE).decode().strip()

    def _bootstrap(self, node: SimulatedNode, usual: CommandContext, argv: Sequence[str], document: bytes) -> int:
        """As usual; but machines' keys are unknown, and nobody says that they may be trusted, and no cluster is made."""
        if argv[-1] == "init":
            return self._init(node, document)
        if argv[-1] == "node-join":
            request = msgspec.json.decode(document, type=JoinRequest)
            if request.ssh_key_check or self._refuses(request.node_name):
                return ExitCode.FAILURE
        return usual.run(argv, document)

    def _init(self, node: SimulatedNode, document: bytes) -> int:
        """What is refused before the machine is looked at: on a node of a cluster, and settings that no cluster can have."""
        paths = Paths(self.directory / f"init-{node.name}")
        if node.disk.exists(self.cluster.paths.server_pem):
            paths.server_pem.parent.mkdir(parents=True, exist_ok=True)
            paths.server_pem.touch()
        problems = Problems()
        try:
            settings = read_settings(document)
            if is_member(paths):
                init(paths, settings)
            check_params(settings, problems)
            check_storage(paths, settings, problems)
            problems.stop_if_any()
        except BootstrapError:
            return ExitCode.FAILURE
        raise AssertionError(f"no cluster is made here: {settings}")

    def _execute(self, argv: Sequence[str]) -> int:
        """What copies a file over SSH."""
        (target,) = [word.removeprefix("root@") for word in argv if word.startswith("root@")]
        return 255 if self._refuses(target) else 0

    def _refuses(self, address: str) -> bool:
        refusing = (self.circumstances.node(name) for name in self.circumstances.refusing)
        return any(address in (node.name, node.address) for node in refusing)

    def _capture(self, node: SimulatedNode, argv: Sequence[str]) -> tuple[int, str]:
        """A command that is run really, here or over SSH; each node has its own name."""
        if argv[0] == "stat":
            there = argv[-1] == COPIED.replace("/root/", f"{self.directory}/")
            return (0, "regular file|644|1700000000") if there else (1, "")
        name = node.name
        if argv[0] == "ssh":
            (name,) = [word.removeprefix("root@") for word in argv if word.startswith("root@")]
            if self._refuses(name):
                return 255, ""
            argv = shlex.split(argv[-1])
        done = subprocess.run(
            [argv[0], argv[1], f"hostname() {{ echo {name}; }}; {argv[2]}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout.decode()
