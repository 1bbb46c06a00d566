"""The daemons as commands: `ganeti-noded` starts `twistd ganeti-noded` in the background, or here with --foreground."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from twisted.logger import ILogObserver, LogPublisher
from twisted.python import usage
from twisted.scripts._twistd_unix import ServerOptions
from twisted.scripts.twistd import runApp

from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.runtime.console import otherwise_of
from ganeti_tx.runtime.daemon_control import READY_LIMIT
from ganeti_tx.runtime.daemon_log import daemon_log, output_log, to_syslog
from ganeti_tx.runtime.daemon_user import become_user, check_user, prepare
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.garbage import search_seldom
from ganeti_tx.runtime.ownership import has_own_users
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.readiness import READY, VARIABLE, heard

#: Nobody else may read what a daemon creates without saying so.
UMASK = 0o077
ANSWER_ONLY = {"--help", "-h", "--version", "-V"}
IN_FOREGROUND = {"--foreground", "-f", *ANSWER_ONLY}
#: How a daemon ends that was told what it does not understand, as Ganeti's do.
WRONG_OPTIONS = 2


def start(daemon: str, arguments: Sequence[str]) -> int:
    """Become twistd with the daemon's plugin, or start it in the background and wait until it is up or has given up.

    The daemon keeps its own pid file, which a crash cannot make stale.
    """
    search_seldom()
    try:
        paths = Paths.from_environment(os.environ)
    except ValueError as error:
        print(f"{daemon}: fatal: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    own_user = ANSWER_ONLY.isdisjoint(arguments) and "--no-user-checks" not in arguments and has_own_users(paths)
    try:
        if own_user:
            check_user(daemon, paths)
            prepare(paths)
    except (OSError, GanetiError) as error:
        print(f"{daemon}: fatal: {reason(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return ExitCode.FAILURE
    become = partial(become_daemon, daemon, paths if own_user else None)
    always = ["--pidfile=", "--no_save", f"--umask={UMASK:o}", f"--rundir={paths.root}"]
    otherwise = otherwise_of(daemon, paths)
    if not IN_FOREGROUND.isdisjoint(arguments):
        return become([*always, "--nodaemon", daemon, *arguments], output_log(sys.stdout, otherwise))
    log = paths.log_file(daemon)
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
        observer = daemon_log(log, otherwise)
    except OSError as error:
        print(f"{daemon}: fatal: nothing can be logged: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    return in_background(daemon, partial(become, [*always, daemon, *arguments], observer), log)


def become_daemon(daemon: str, own_user_at: Paths | None, arguments: Sequence[str], observer: ILogObserver) -> int:
    """As `become_twistd`. @param own_user_at: as the user whom the daemon has at these paths, if root starts it."""
    if own_user_at is not None:
        become_user(daemon, own_user_at)
    return become_twistd(daemon, arguments, observer)


def become_twistd(daemon: str, arguments: Sequence[str], observer: ILogObserver) -> int:
    """Run until the daemon ends; the exit status for a command line that is wrong.

    @param observer: takes what is logged.
    """
    options = ServerOptions()
    try:
        options.parseOptions(arguments)
    except usage.error as error:
        said = str(error).removeprefix("Parameter type enforcement failed: ")
        print(f"{daemon}: {said}; see '{daemon} --help'", file=sys.stderr)
        return WRONG_OPTIONS
    if options.subOptions["syslog"] == "yes":
        observer = LogPublisher(observer, to_syslog(daemon))
    options["logger"] = lambda: observer
    signal.signal(signal.SIGHUP, go_on)
    runApp(options)
    return 0


def go_on(_signal: int, _frame: object) -> None:
    """Ganeti's daemons open their logs anew when they are sent a SIGHUP; these do it by themselves, and must not end.

    A handler, as programs that a daemon starts would inherit that a signal is ignored.
    """


def in_background(daemon: str, become: Callable[[], int], log: Path) -> int:
    """Become the daemon in a child and report what it says; the exit status."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.environ[VARIABLE] = str(writing)
        return become()
    os.close(writing)
    said = heard(reading, READY_LIMIT)
    if said == READY:
        return 0
    if said is None:
        said = f"1 not ready within {READY_LIMIT:.0f} seconds; see {log}"
    elif not said:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            return status if status > 0 else 1  # twistd has said why, such as a wrong option
        said = f"1 fatal: ended before it was ready; see {log}"
    status_said, _, reason = said.partition(" ")
    print(f"{daemon}: {reason}", file=sys.stderr)
    return int(status_said)


def master() -> int:
    """ganeti-master: luxid and wconfd in one process."""
    return start("ganeti-master", sys.argv[1:])


def luxid() -> int:
    """ganeti-luxid alone."""
    return start("ganeti-luxid", sys.argv[1:])


def wconfd() -> int:
    """ganeti-wconfd alone."""
    return start("ganeti-wconfd", sys.argv[1:])


def noded() -> int:
    """ganeti-noded."""
    return start("ganeti-noded", sys.argv[1:])


def rapi() -> int:
    """ganeti-rapi."""
    return start("ganeti-rapi", sys.argv[1:])


def confd() -> int:
    """ganeti-confd."""
    return start("ganeti-confd", sys.argv[1:])


def mond() -> int:
    """ganeti-mond."""
    return start("ganeti-mond", sys.argv[1:])


def metad() -> int:
    """ganeti-metad."""
    return start("ganeti-metad", sys.argv[1:])
