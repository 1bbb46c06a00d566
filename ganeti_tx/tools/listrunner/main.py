"""ganeti-listrunner: its command line."""

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.regular_file import read_regular
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.tools.listrunner.hosts import HOST, ListrunnerError, checked, hosts_of_file
from ganeti_tx.tools.listrunner.remote import Ending, Keeping, Task, Way, run
from ganeti_tx.tools.listrunner.said import showable

PROGRAM = "ganeti-listrunner"
DESCRIPTION = """\
Run a command, or a program of this machine that is sent there, on many machines at once, over ssh. Each machine must let the user
in by a key. What a machine says is printed when it has ended, or is in a file of its name below --logdir. The exit status is 0 if
it succeeded on all of them.
"""
BATCH, MAX_BATCH = 15, 500
LIMIT, MAX_LIMIT = 3600.0, 7 * 86400.0
MAX_EXECUTABLE = 64 * 1024 * 1024
#: Bytes that are kept of what one machine says, without --logdir and with it.
MAX_SHOWN, MAX_LOG = 1024 * 1024, 64 * 1024 * 1024
SHOWN = Keeping(MAX_SHOWN, f"the rest is left out; --logdir keeps up to {MAX_LOG} bytes")
LOGGED = Keeping(MAX_LOG, f"more than {MAX_LOG} bytes: the rest is left out")


def parser() -> argparse.ArgumentParser:
    """The command line; -h names machines, as it always has."""
    made = ToolParser(PROGRAM, description=DESCRIPTION, add_help=False)
    made.add_argument("--help", action="help", help="show this and end")
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    what = made.add_mutually_exclusive_group(required=True)
    what.add_argument("-c", "--command", metavar="COMMAND", help="a line for the shell of each machine")
    what.add_argument(
        "-x", "--executable", metavar="FILE", type=Path, help="a program of this machine, run on each of them"
    )
    made.add_argument(
        "-a", "--args", metavar="ARGUMENTS", default="", help="arguments of the program, in shell's quoting"
    )
    where = made.add_mutually_exclusive_group(required=True)
    where.add_argument("-f", "--hosts-file", metavar="FILE", type=Path, help="the machines, one a line")
    where.add_argument("-h", "--hosts", metavar="HOST,...", help="the machines")
    made.add_argument(
        "-l",
        "--logdir",
        metavar="DIR",
        type=Path,
        help=f"keep what each machine says, up to {MAX_LOG} bytes, in DIR/MACHINE.log",
    )
    made.add_argument("-u", "--user", default="root", help="who to be there (default: %(default)s)")
    made.add_argument("-P", "--port", type=port, help="the port of ssh (default: as ssh is set up)")
    made.add_argument("-A", "--agent", action="store_true", help="let the machines use the keys of the own ssh agent")
    made.add_argument(
        "-b", "--batch-size", type=batch, default=BATCH, metavar="N", help="so many at once (default: %(default)s)"
    )
    made.add_argument(
        "-t", "--timeout", type=seconds, default=LIMIT, metavar="SECONDS", help="for one machine (default: %(default)g)"
    )
    return made


def batch(text: str) -> int:
    """@raise ArgumentTypeError: no number of machines."""
    if not (text.isdecimal() and 0 < int(text) <= MAX_BATCH):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MAX_BATCH}")
    return int(text)


def port(text: str) -> int:
    """@raise ArgumentTypeError: no port."""
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 1 to 65535")
    return int(text)


def seconds(text: str) -> float:
    """@raise ArgumentTypeError: no time."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MAX_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0 and at most {MAX_LIMIT:.0f} seconds")
    return value


def task_of(options: argparse.Namespace) -> Task:
    """What is to be done. @raise ListrunnerError: the program cannot be read, or its arguments not be told apart."""
    if options.executable is None:
        if options.args:
            raise ListrunnerError("--args are those of the program of -x; write them behind the command of -c")
        return Task(options.command)
    try:
        arguments = shlex.split(options.args)
    except ValueError as error:
        raise ListrunnerError(f"--args: {error}: {options.args!r}") from None
    try:
        content = read_regular(options.executable, MAX_EXECUTABLE)
    except OSError as error:
        raise ListrunnerError(f"cannot read {options.executable}: {error.strerror}") from None
    return Task(executable=content, arguments=arguments)


def hosts_of(options: argparse.Namespace) -> list[str]:
    """The machines. @raise ListrunnerError: as `hosts.checked`."""
    if options.hosts_file is not None:
        return hosts_of_file(options.hosts_file)
    return checked((name.strip() for name in options.hosts.split(",") if name.strip()), "--hosts")


def way_of(options: argparse.Namespace) -> Way:
    """How they are reached. @raise ListrunnerError: no name of a user."""
    if not HOST.fullmatch(options.user):
        raise ListrunnerError(f"--user: not the name of a user: {options.user!r}")
    known_hosts = Paths.from_environment(os.environ).known_hosts
    return Way(options.user, options.port, options.agent, known_hosts, options.timeout, os.environ)


def endings(way: Way, task: Task, hosts: Sequence[str], logs: Path, keeping: Keeping, at_once: int) -> Iterator[Ending]:
    """Of each machine, as they end; after an error or an interrupt no further one is begun."""
    with ThreadPoolExecutor(at_once) as threads:
        try:
            begun = [threads.submit(run, way, task, host, log_of(logs, host), keeping) for host in hosts]
            for ended in as_completed(begun):
                yield ended.result()
        finally:
            threads.shutdown(cancel_futures=True)


def log_of(directory: Path, host: str) -> Path:
    """Where it stands what a machine says."""
    return directory / f"{host}.log"


def shown(log: Path) -> str:
    """What a machine has said, for the standard output; it is kept no longer."""
    text = log.read_bytes().decode("utf-8", "backslashreplace").rstrip("\n")
    log.unlink()
    return showable(text, sys.stdout.encoding or "utf-8")


def work(options: argparse.Namespace) -> int:
    """All of it; the exit status. @raise ListrunnerError, OSError: it was not begun."""
    task, hosts, way = task_of(options), hosts_of(options), way_of(options)
    with ExitStack() as stack:
        logs = options.logdir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"{PROGRAM}-")))
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        failed, keeping = 0, LOGGED if options.logdir else SHOWN
        for ending in endings(way, task, hosts, logs, keeping, min(options.batch_size, len(hosts))):
            failed += ending.status != 0
            print(f"{ending.host}: {ending.text}", flush=True)
            if options.logdir is None and (said := shown(log_of(logs, ending.host))):
                print(said, flush=True)
    print(f"{len(hosts) - failed} of {len(hosts)} succeeded", flush=True)
    return ExitCode.FAILURE if failed else ExitCode.SUCCESS


def main() -> int:
    """The program; its exit status."""
    tell = partial(print, file=sys.stderr)
    try:
        return work(parser().parse_args())
    except ListrunnerError as error:
        tell(f"{PROGRAM}: {error}")
    except OSError as error:
        tell(f"{PROGRAM}: {reason(error)}")
    except KeyboardInterrupt:
        tell("interrupted")
    return ExitCode.FAILURE
