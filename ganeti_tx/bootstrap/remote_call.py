"""Running ganeti-bootstrap on a node that has no daemon yet: through ssh, or what stands in its place."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO

from attrs import define

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.remote_program import NO_COMMAND, missing, remote_words
from ganeti_tx.model.printable import printable_lines
from ganeti_tx.runtime.paths import Paths

REMOTE_SHELL_VARIABLE = "GANETI_REMOTE_SHELL"
#: Seconds instead of `LIMIT`, for nodes that are emulated.
REMOTE_LIMIT_VARIABLE = "GANETI_REMOTE_LIMIT"
PROGRAM = "ganeti-bootstrap"
#: Seconds that a step on the node may take, with the questions that ssh asks before.
LIMIT = 120
SYSTEM_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts"
#: The first line that a step says: from here on it may have changed something.
BEGUN = "begun"
MAX_SAID = 64 * 1024


@define
class RemoteFailure(BootstrapError):
    """A step failed. `unknown`: it had begun, and nobody knows what it has done since."""

    lines: tuple[str, ...]
    unknown: bool = False

    def __str__(self) -> str:
        return "\n".join(self.lines)


def ssh_argv(
    paths: Paths, *, check_host_key: bool, port: int | None, interactive: bool, more: Sequence[str] = ()
) -> list[str]:
    """ssh up to the host's name. Known hosts are the cluster's, the system's and the user's; without the check none are
    read or added to, so that it is left out of this one connection only.

    @param more: further arguments. They end with `--`, so that the host is no option whatever it is called.
    """
    if check_host_key:
        known = f"{paths.known_hosts} {SYSTEM_KNOWN_HOSTS}"
        settings = {"StrictHostKeyChecking": "ask", "GlobalKnownHostsFile": known, "CheckHostIp": "no"}
    else:
        nowhere = {"UserKnownHostsFile": "/dev/null", "GlobalKnownHostsFile": "/dev/null"}
        settings = {"StrictHostKeyChecking": "no", **nowhere, "LogLevel": "ERROR"}
    if not interactive:
        settings["BatchMode"] = "yes"
    if port is not None:
        settings["Port"] = str(port)
    settings = {**settings, "ConnectTimeout": "10", "EscapeChar": "none", "User": "root"}
    return ["ssh", *(f"-o{name}={value}" for name, value in settings.items()), *more, "--"]


@define
class RemoteCall:
    """The way to one host."""

    paths: Paths
    host: str
    check_host_key: bool = True
    port: int | None = None
    environ: Mapping[str, str] = os.environ

    def shell(self) -> list[str]:
        """What is put before the host and the command."""
        named = self.environ.get(REMOTE_SHELL_VARIABLE)
        if named:
            return shlex.split(named)
        port = self.port if self.port is not None else self._known_port()
        # ssh asks on the terminal, which is there when the operator's standard error is, or by a program of the operator's
        asks = sys.stderr.isatty() or self.environ.get("SSH_ASKPASS_REQUIRE") == "force"
        return ssh_argv(self.paths, check_host_key=self.check_host_key, port=port, interactive=asks)

    def limit(self) -> int:
        """Seconds that a step may take. @raise RemoteFailure: the environment names no such number."""
        named = self.environ.get(REMOTE_LIMIT_VARIABLE) or str(LIMIT)
        if re.fullmatch("[1-9][0-9]{0,4}", named) is None:
            raise RemoteFailure((f"{REMOTE_LIMIT_VARIABLE} must be 1 to 99999 seconds, not {named!r}",))
        return int(named)

    def _known_port(self) -> int | None:
        """Of a node that the cluster knows."""
        path = self.paths.ssconf_file("ssh_ports")
        lines = path.read_text().splitlines() if path.exists() else []
        ports = dict(line.split("=", 1) for line in lines if "=" in line)
        return int(ports[self.host]) if ports.get(self.host, "").isdigit() else None

    def run(self, step: str, document: bytes) -> list[str]:
        """What the step says. @raise RemoteFailure: it failed, or could not be run; its words are in the text."""
        argv = [*self.shell(), self.host, *remote_words(PROGRAM, step)]
        limit = self.limit()
        with tempfile.TemporaryFile() as said:
            try:
                done = subprocess.run(
                    argv, input=document, stdout=said, stderr=subprocess.PIPE, timeout=limit, check=False
                )
            except subprocess.TimeoutExpired:
                why = f"node {self.host}: {PROGRAM} {step} did not end within {limit} s"
                raise RemoteFailure((why,), unknown=bool(lines_of(said))) from None
            except OSError as error:
                why = f"cannot run {argv[0]} ({error.strerror}); it is what reaches new nodes"
                raise RemoteFailure((why,)) from None
            except KeyboardInterrupt:
                raise RemoteFailure(("interrupted",), unknown=bool(lines_of(said))) from None
            lines = lines_of(said)
        if done.returncode == 0:
            return [line for line in lines if line != BEGUN]
        raise self._failure(done.returncode, done.stderr, lines)

    def _failure(self, status: int, errors: bytes, lines: list[str]) -> RemoteFailure:
        if status == NO_COMMAND:
            return RemoteFailure(missing(self.host, PROGRAM).args)
        told = printable_lines(errors[-MAX_SAID:].strip())
        words = told or [line for line in lines if line != BEGUN] or [f"status {status}"]
        # ssh itself ends with 255 when the connection breaks, and a signal's end is not the step's own
        lost = status == 255 or status < 0 or status > 128
        return RemoteFailure(tuple(f"node {self.host}: {line}" for line in words), unknown=lost and bool(lines))


def lines_of(file: IO[bytes]) -> list[str]:
    """What was written so far."""
    file.seek(0)
    return printable_lines(file.read(MAX_SAID))
