"""One machine: the command line that reaches it, and what came of running it."""

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

#: Names what reaches other nodes in place of ssh, as in a devcluster.
REMOTE_SHELL = "GANETI_REMOTE_SHELL"
#: Nobody is there to type a password; seconds until a machine counts as gone.
UNATTENDED = ("-oBatchMode=yes", "-oConnectTimeout=30", "-oEscapeChar=none")
#: Runs the file that comes on standard input, with the arguments, and leaves nothing behind.
RUN_FILE = """\
umask 077
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
cat > "$file" && chmod 700 "$file" && "$file" "$@" < /dev/null
"""


@frozen
class Task:
    """What every machine does: a line of shell, or a file that is sent there and run with arguments."""

    command: str = ""
    executable: bytes | None = None
    arguments: Sequence[str] = ()

    def words(self) -> list[str]:
        """What is run there."""
        if self.executable is None:
            return ["sh", "-c", self.command]
        return ["sh", "-c", RUN_FILE, "sh", *self.arguments]


@frozen
class Way:
    """How machines are reached."""

    user: str
    port: int | None
    agent: bool
    known_hosts: Path
    limit: float
    environ: Mapping[str, str]

    def argv(self, host: str, words: Sequence[str]) -> list[str]:
        """Only keys that somebody has made known before are trusted: root's own list, the machine's, the cluster's."""
        if shell := self.environ.get(REMOTE_SHELL):
            return [*shlex.split(shell), host, *words]
        return [
            "ssh",
            *UNATTENDED,
            f"-oForwardAgent={'yes' if self.agent else 'no'}",
            f"-oGlobalKnownHostsFile=/etc/ssh/ssh_known_hosts {self.known_hosts}",
            *([] if self.port is None else [f"-oPort={self.port}"]),
            f"-l{self.user}",
            "--",
            host,
            shlex.join(words),
        ]


@frozen
class Ending:
    """How it went on one machine."""

    host: str
    status: int | None
    """None: its time was over."""

    @property
    def text(self) -> str:
        """For the list that is printed."""
        if self.status is None:
            return "its time is over"
        return "success" if self.status == 0 else f"exit status {self.status}"


def run(way: Way, task: Task, host: str, log: Path) -> Ending:
    """Do it on one machine; all that it says stands in the log. @raise OSError: ssh cannot be started, or no log written."""
    with log.open("wb") as output:
        try:
            done = subprocess.run(
                way.argv(host, task.words()),
                input=task.executable or b"",
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=way.limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ending(host, None)
    return Ending(host, done.returncode)
