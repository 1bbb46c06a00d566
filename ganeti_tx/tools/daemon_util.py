"""daemon-util: the daemons of this node for scripts that know Ganeti's program of that name (reference: cli.json, daemons)."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import is_running, run, start, stop, stop_all
from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.model.nearest import did_you_mean
from ganeti_tx.runtime.daemon_control import DaemonControl, last_line
from ganeti_tx.runtime.daemon_names import ALL, MASTER, MASTER_PARTS, NODE, ON_ALL_NODES, RAPI
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.names import own_name, read
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "daemon-util"
DESCRIPTION = """\
Start, stop and ask for the daemons of this node, by systemd where it rules. 'systemctl' and '/etc/init.d/ganeti' do that, too.
start-all starts what belongs on this node. Daemons notice by themselves that their logs were moved away, and the SSH daemon reads
who is let in at each login: rotate-logs, rotate-all-logs and reload-ssh-keys have nothing to do, and succeed.
"""
#: In the order in which they are started; luxid and wconfd are both in ganeti-master, and may be started apart by their names.
STARTED = (NODE, MASTER, *ON_ALL_NODES, RAPI)
OF_MASTER = (MASTER, RAPI)
MAX_NAME = 4096
#: How a daemon ends that has nothing to do on this node.
NOT_HERE = (ExitCode.NOTMASTER, ExitCode.NODESETUP_ERROR)

Words = Sequence[str]


def daemon_of(words: Words) -> str:
    """The daemon that is named first. @raise GanetiError: none is, or one that there is not."""
    if not words:
        raise GanetiError("Missing daemon name.")
    if words[0] not in ALL:
        question = did_you_mean(words[0], ALL)
        raise GanetiError(f"Unknown daemon name '{words[0]}'" + (f" ({question})" if question else ""))
    return words[0]


def runs(paths: Paths, daemon: str) -> bool:
    """Whether it does, by itself or as a part of ganeti-master."""
    return is_running(paths, daemon) or (daemon in MASTER_PARTS and is_running(paths, MASTER))


def start_one(paths: Paths, words: Words) -> int:
    """Start one with options of its own, if there are any. @raise GanetiError: systemd has them elsewhere."""
    daemon, options = daemon_of(words), list(words[1:])
    control = DaemonControl.at(paths.root)
    if control.by_systemd and options:
        raise GanetiError(f"options of {daemon} stand in /etc/default/ganeti where systemd rules, got {options[0]!r}")
    if runs(paths, daemon):
        return ExitCode.SUCCESS
    if control.by_systemd:
        start(paths, daemon)
        return ExitCode.SUCCESS
    done = run([own_program(daemon), *options], control.start_limit)
    if done.returncode:
        print(last_line(done.stderr, done.stdout), file=sys.stderr)
    return done.returncode


def start_some(paths: Paths, daemons: Words) -> int:
    """Start these; failure when one that belongs here does not come up, which is told, and the others go on."""
    statuses = []
    for daemon in daemons:
        try:
            statuses.append(start_one(paths, [daemon]))
        except BootstrapError as error:
            print(error, file=sys.stderr)
            statuses.append(ExitCode.FAILURE)
    return ExitCode.FAILURE if any(status not in (0, *NOT_HERE) for status in statuses) else ExitCode.SUCCESS


def start_all(paths: Paths, words: Words) -> int:
    """Start what belongs on this node. @raise GanetiError: it is in no cluster."""
    check_config(paths, ())
    master = read(paths.ssconf_file("master_node"), MAX_NAME).strip()
    return start_some(paths, [each for each in STARTED if each not in OF_MASTER or master == own_name(os.environ)])


def stop_one(paths: Paths, words: Words) -> int:
    """Stop one, or the daemon that it is a part of. @raise BootstrapError: it does not end."""
    daemon = daemon_of(words)
    stop(paths, daemon)
    if daemon in MASTER_PARTS:
        stop(paths, MASTER)
    return ExitCode.SUCCESS


def stop_master(paths: Paths, words: Words) -> int:
    """Stop what only a master runs."""
    for daemon in (RAPI, MASTER, *MASTER_PARTS):
        stop(paths, daemon)
    return ExitCode.SUCCESS


def stop_every(paths: Paths, words: Words) -> int:
    """Stop all. @raise GanetiError: some do not end."""
    if failed := stop_all(paths):
        raise GanetiError("; ".join(failed))
    return ExitCode.SUCCESS


def check(paths: Paths, words: Words) -> int:
    """Whether one runs."""
    return ExitCode.SUCCESS if runs(paths, daemon_of(words)) else ExitCode.FAILURE


def check_config(paths: Paths, words: Words) -> int:
    """Whether this node is in a cluster. @raise GanetiError: it is not."""
    if not paths.server_pem.exists():
        raise GanetiError(f"Missing configuration file {paths.server_pem}")
    return ExitCode.SUCCESS


def check_exit_code(paths: Paths, words: Words) -> int:
    """What the status says with which a daemon has ended. @raise GanetiError: none is given, or it tells of a failure."""
    if not words:
        raise GanetiError("Missing exit code.")
    if words[0] == str(int(ExitCode.NOTMASTER)):
        print("not master", file=sys.stderr)
    elif words[0] != "0":
        raise GanetiError(f"exit code {words[0]}")
    return ExitCode.SUCCESS


def told(text: str) -> int:
    """Print it."""
    print(text)
    return ExitCode.SUCCESS


def named(paths: Paths, words: Words) -> int:
    """There is such a daemon, and nothing is to be done."""
    daemon_of(words)
    return ExitCode.SUCCESS


Action = Callable[[Paths, Words], int]
ACTIONS: Mapping[str, Action] = {
    "check": check,
    "check-and-start": start_one,
    "check-config": check_config,
    "check-exitcode": check_exit_code,
    "daemon-executable": lambda paths, words: told(own_program(daemon_of(words))),
    "daemon-pidfile": lambda paths, words: told(str(paths.pid_file(daemon_of(words)))),
    "is-daemon-name": named,
    "list-start-daemons": lambda paths, words: told("\n".join(STARTED)),
    "list-stop-daemons": lambda paths, words: told("\n".join(reversed(ALL))),
    "reload-ssh-keys": lambda paths, words: ExitCode.SUCCESS,
    "rotate-all-logs": lambda paths, words: ExitCode.SUCCESS,
    "rotate-logs": named,
    "start": start_one,
    "start-all": start_all,
    "start-master": lambda paths, words: start_some(paths, OF_MASTER),
    "stop": stop_one,
    "stop-all": stop_every,
    "stop-master": stop_master,
    "use-systemctl": lambda paths, words: int(not DaemonControl.at(paths.root).by_systemd),
}


def parser() -> argparse.ArgumentParser:
    """The command line, as help and completion have it; a wrong one ends with the status that Ganeti's has."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help=", ".join(ACTIONS))
    made.add_argument("words", nargs="*", metavar="DAEMON", help="the daemon, and for start its options; an exit code")
    return made


def main() -> int:
    """The program; its exit status."""
    action, *words = sys.argv[1:] or [""]
    try:
        if action in ACTIONS:
            return ACTIONS[action](Paths.from_environment(os.environ), words)
        if action.startswith("-"):
            parser().parse_args()
        question = did_you_mean(action, ACTIONS)
        wrong = f"Unknown command: {action}" + (f" ({question})" if question else "")
        print(wrong if action else f"Usage: {sys.argv[0]} <action>", file=sys.stderr)
    except (BootstrapError, GanetiError, ValueError) as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{PROGRAM}: {error.strerror or error}", file=sys.stderr)
    return ExitCode.FAILURE
