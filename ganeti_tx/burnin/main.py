"""The program."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType

from ganeti_tx.burnin.before import Resolve
from ganeti_tx.burnin.command_words import PROGRAM, parser, read_words
from ganeti_tx.burnin.confd_questions import Ask
from ganeti_tx.burnin.living import Fetch, fetched
from ganeti_tx.burnin.run import Burnin
from ganeti_tx.burnin.unbroken import Unbroken
from ganeti_tx.cli.failures import warn_of
from ganeti_tx.cli.program import CommandContext, real_context
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.streams import open_closed
from ganeti_tx.confd.blocking import BlockingClient
from ganeti_tx.confd.peers import candidates, read_key
from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.runtime.names import resolve_now
from ganeti_tx.runtime.paths import Paths


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status."""
    open_closed()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    return burn(arguments, real_context(), lambda: asking(os.environ), fetched, resolve)


def interrupted(number: int, frame: FrameType | None) -> None:
    """Other ends that are asked for are interrupts, too. @raise KeyboardInterrupt"""
    raise KeyboardInterrupt


def asking(environ: Mapping[str, str]) -> Ask:
    """What asks the master candidates that this node knows of. @raise GanetiError: it knows none, or has no key."""
    paths = Paths.from_environment(environ)
    client = BlockingClient(read_key(paths.hmac_key), candidates(paths))
    return lambda question: client.ask(question).value


def resolve(name: str) -> tuple[str, str]:
    """A name's full one and its address, as this node knows them. @raise ResolverError: there is no such host."""
    return resolve_now(Paths.from_environment(os.environ), name)


def burn(
    arguments: Sequence[str] | None, context: CommandContext, confd: Callable[[], Ask], fetch: Fetch, resolve: Resolve
) -> int:
    """The program in any surroundings."""
    wanted = read_words(parser(), arguments)
    session = Session(
        program=PROGRAM, command=PROGRAM, environ=context.environ, out=Unbroken(context.out, tells=True),
        err=Unbroken(context.err, tells=False), stdin=context.stdin, connect=context.connect, run=context.run,
        capture=context.capture, now=context.now, sleep=context.sleep, read=context.read,
    )  # fmt: skip
    try:
        return ExitCode.SUCCESS if Burnin(session, wanted, confd, fetch, resolve).run() else ExitCode.FAILURE
    except GanetiError as error:
        warn_of(session, PROGRAM, error)
    except OSError as error:
        session.warn(f"{PROGRAM}: {error.strerror}")
    except KeyboardInterrupt:
        session.warn(f"{PROGRAM}: interrupted; look with 'gnt-job list' and 'gnt-instance list' for what is left")
    return ExitCode.FAILURE


if __name__ == "__main__":
    sys.exit(main())
