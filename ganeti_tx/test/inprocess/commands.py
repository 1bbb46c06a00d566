"""gnt-* command lines against a cluster in this process."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define

from ganeti_tx.bootstrap.join_documents import JoinRequest
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import ExitCode
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.on_twisted import client
from ganeti_tx.test.inprocess.cluster import InProcessCluster

MAX_FILE = 4096


class DrivingClient(Client):
    """A blocking client that lets the cluster's time pass until its answer has come over the socket in memory."""

    def __init__(self, cluster: InProcessCluster, path: str | None = None) -> None:
        path = path or str(cluster.paths.query_socket)
        super().__init__(path)
        self._cluster = cluster
        process: Any = cluster.new_process("gnt")  # as much of a reactor as the client needs
        self._luxi = client(process, path)

    def call(self, method: str, args: list[Any]) -> Any:
        """As Client says."""
        return self._cluster.run(self._luxi.call(method, args))

    def close(self) -> None:
        """As Client says."""
        self._luxi.close()


@define
class Commands:
    """Runs command lines on the master node, with nobody at the terminal."""

    cluster: InProcessCluster

    def __call__(self, words: Sequence[str]) -> tuple[int, str, str]:
        """The exit status, what it wrote, and what it complained of."""
        program, *rest = words
        out, err = io.StringIO(), io.StringIO()
        luxi = DrivingClient(self.cluster)
        try:
            status = run(program_named(program), rest, self.context(luxi, out, err))
        finally:
            luxi.close()
        return status, out.getvalue(), err.getvalue()

    def context(self, luxi: Client, out: io.StringIO, err: io.StringIO) -> CommandContext:
        """What a command finds around it."""
        return CommandContext(
            environ={"GANETI_HOSTNAME": self.cluster.master.name},
            out=out,
            err=err,
            stdin=io.StringIO(),
            connect=lambda: luxi,
            run=self._run_program,
            now=self.cluster.time.seconds,
            sleep=self.cluster.pass_time,
            read=self._read,
            listens=lambda address: address in self.cluster.network.daemons and self.cluster.network.is_up(address),
            connect_to=lambda path, daemon: DrivingClient(self.cluster, path),
        )

    def _read(self, path: str) -> str:
        return self.cluster.master.disk.read(Path(path), MAX_FILE).decode().strip()

    def _run_program(self, argv: Sequence[str], document: bytes | None) -> int:
        """The one program that commands run: what ganeti-bootstrap does for `gnt-node add` is done to a simulated machine."""
        if argv[-1] not in ("node-join", "node-unjoin") or document is None:
            raise AssertionError(f"not to be run here: {argv}")
        request = msgspec.json.decode(document, type=JoinRequest)
        node = self.cluster.machine(request.node_name)
        if node is None:
            return ExitCode.FAILURE
        if argv[-1] == "node-join":
            node.join(ssconf_values(self.cluster.config))
        elif not request.readd:  # one that was a member has the same keys as before
            node.unjoin()
        return ExitCode.SUCCESS
