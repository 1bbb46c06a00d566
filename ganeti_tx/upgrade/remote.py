"""The new version's program on every node, this one included, through ssh or what stands in its place."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from attrs import frozen

from ganeti_tx.bootstrap.remote_call import RemoteCall
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.printable import printable
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.upgrade.installations import program
from ganeti_tx.upgrade.on_node import Look

#: Seconds for a question, and for a node's daemons to come up again, one after the other.
ASK_LIMIT = 60.0
SWITCH_LIMIT = 1800.0
#: How a shell ends that knows no such program.
NO_PROGRAM = (126, 127)
#: Characters of a node's own words that are told.
MAX_REASON = 500


class NodeFailed(GanetiError):
    """What a node did not do, and why: one line."""


@frozen
class UpgradeNodes:
    """Those of the cluster. `here`: this one, which needs no shell."""

    paths: Paths
    here: str

    def look(self, node: str, prefix: Path) -> Look:
        """@raise NodeFailed: the version is not there, or the node cannot be reached"""
        said = self._run(node, [program(prefix), "look"], ASK_LIMIT)
        try:
            return msgspec.json.decode(said.strip().encode(), type=Look)
        except msgspec.DecodeError:
            raise NodeFailed(f"node {node}: {program(prefix)} says {said.strip()[:100]!r}") from None

    def take_over(self, node: str, prefix: Path, daemons: Sequence[str]) -> None:
        """@raise NodeFailed: not all of its daemons run that should"""
        self._run(node, [program(prefix), "take-over", *daemons], SWITCH_LIMIT)

    def _run(self, node: str, argv: Sequence[str], limit: float) -> str:
        shell = [] if node == self.here else [*RemoteCall(self.paths, node).shell(), node]
        done = ended([*shell, *argv], limit, lambda why: NodeFailed(f"node {node}: {why}"))
        if done.returncode in NO_PROGRAM:
            raise NodeFailed(f"node {node}: there is no {argv[0]}; install the version there first")
        if done.returncode != 0:
            told = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
            raise NodeFailed(f"node {node}: {printable(told[-1], MAX_REASON)}")
        return done.stdout


def ended(
    argv: Sequence[str],
    limit: float,
    failure: Callable[[str], GanetiError] = GanetiError,
    *,
    text: str = "",
    environ: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """A program that has ended. @param text: its standard input. @raise GanetiError: it cannot be run, or has not."""
    try:
        return subprocess.run(
            argv,
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
            check=False,
            env=environ,
        )
    except subprocess.TimeoutExpired:
        raise failure(f"{argv[0]} did not end within {limit:.0f} s") from None
    except FileNotFoundError:
        raise failure(f"there is no {argv[0]}; install the version there first") from None
    except OSError as error:
        raise failure(f"cannot run {argv[0]}: {error.strerror}") from None
