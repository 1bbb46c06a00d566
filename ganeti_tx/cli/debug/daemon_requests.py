"""Requests that a command sends a daemon of this node, by the words typed."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session, rooted
from ganeti_tx.errors import ExitCode
from ganeti_tx.luxi.daemon import Daemon


class Request(NamedTuple):
    """What a word asks for: with how many arguments, and what is printed of the answer."""

    arguments: int
    ask: Callable[..., list[str]]


class DaemonRequests(NamedTuple):
    """A daemon, where it listens, and what it can be asked."""

    socket: str
    daemon: Daemon
    requests: Mapping[str, Request]

    def send(self, session: Session, options: Parsed, words: Sequence[str]) -> int:
        """Send one request, and print what comes back. @raise UsageError: a wrong number of arguments."""
        name, *rest = words
        if name not in self.requests:
            session.warn(f"Command '{name}' not supported; supported: {', '.join(self.requests)}")
            return ExitCode.FAILURE
        wanted, ask = self.requests[name]
        if len(rest) != wanted:
            raise UsageError(f"{name} takes {wanted} argument(s), got {len(rest)}")
        with session.connect_to(rooted(session.environ, self.socket), self.daemon) as client:
            lines = ask(client, *rest)
            show(session, lines, lambda: [{"line": line} for line in lines], ["line"])
        return ExitCode.SUCCESS
