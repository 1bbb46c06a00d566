"""One machine: the command line that reaches it, and what came of running it."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.tools.listrunner.bounded import run_bounded

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


@frozen
class Keeping:
    """How many bytes of what a machine says are kept, and what is said of the rest."""

    most: int
    note: str


def run(way: Way, task: Task, host: str, log: Path, keeping: Keeping) -> Ending:
    """Do it on one machine; the log has what it says. @raise OSError: ssh cannot be started, or no log written."""
    argv = way.argv(host, task.words())
    return Ending(host, run_bounded(argv, task.executable or b"", log, keeping.most, keeping.note, way.limit))
