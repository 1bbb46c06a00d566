"""ganeti-devcluster: a whole cluster on this machine, each node with its own root directory and loopback address."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import DEFAULT_ROOT, STATE_FILE, Layout, load
from ganeti_tx.devcluster.machines import check_nothing_mounted
from ganeti_tx.devcluster.own_addresses import give_up
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.running import missing_daemons, other_processes, running_daemons
from ganeti_tx.devcluster.supervising import PID_FILE, is_held
from ganeti_tx.devcluster.trust import allow_nobody_else_to_write, check_trusted
from ganeti_tx.devcluster.up import up
from ganeti_tx.runtime.tool_parser import ToolParser


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = ToolParser(prog="ganeti-devcluster", description=__doc__)
    result.add_argument("-V", "--version", action="version", version=f"%(prog)s (ganeti ganeti_tx) {__version__}")
    result.add_argument("--root", type=Path, default=DEFAULT_ROOT, help="its directory (default: %(default)s)")
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")
    starting = commands.add_parser("up", help="make it, or start it again")
    starting.add_argument("--nodes", type=int, default=3, help="how many nodes (default: %(default)s)")
    starting.add_argument(
        "--primary-ip-version", type=int, choices=(4, 6), default=4, metavar="4|6",
        help="of the nodes' addresses; 6 puts them on the loopback interface, as root (default: %(default)s)",
    )  # fmt: skip
    starting.add_argument("--no-supervisor", action="store_true", help="leave daemons that die as they are")
    starting.add_argument("init_option", nargs="*", help="further options of gnt-cluster init, after --")
    stopping = commands.add_parser(
        "down", help="end every process and instance of it, and remove it unless --keep is given"
    )
    stopping.add_argument("--keep", action="store_true", help="keep the directory, so that 'up' starts it again")
    commands.add_parser("status", help="say what runs")
    commands.add_parser("shell", help="a shell in which the gnt-* commands talk to it")
    running = commands.add_parser("run", help="run one command as on a node: run [--node NODE] -- COMMAND ...")
    running.add_argument("--node", default=None, help="which node (default: the master)")
    running.add_argument("words", nargs=argparse.REMAINDER)
    for command in commands.choices.values():
        command.add_argument("--root", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = parser().parse_args(arguments)
    allow_nobody_else_to_write()
    try:
        return int(COMMANDS[options.command](options))
    except DevclusterError as error:
        print(f"ganeti-devcluster: {error}", file=sys.stderr)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"ganeti-devcluster: {error.strerror or error}{where}", file=sys.stderr)
    except KeyboardInterrupt:
        print("ganeti-devcluster: interrupted; 'down' removes what is there", file=sys.stderr)
    return 1


def do_up(options: argparse.Namespace) -> int:
    """Make or start the cluster."""
    supervised = not options.no_supervisor
    layout = up(options.root, options.nodes, options.init_option, supervised, options.primary_ip_version)
    print(f"{layout.cluster_name} is up in {layout.root}: {', '.join(node.name for node in layout.nodes)}")
    print("Talk to it with 'ganeti-devcluster shell' or 'ganeti-devcluster run -- gnt-cluster info'.")
    return 0


def do_down(options: argparse.Namespace) -> int:
    """End all processes, and forget the cluster unless it shall be kept."""
    root = options.root.absolute()
    if not (root / STATE_FILE).exists():
        print(f"there is no devcluster in {root}; nothing to do")
        return 0
    check_trusted(root)
    ended = end_all(root)
    with suppress(DevclusterError):  # of a state file that cannot be read the directory goes all the same
        give_up(load(root))
    if not options.keep:
        check_nothing_mounted(root)
        shutil.rmtree(root)
    print(f"ended {ended} processes; {root} is {'kept' if options.keep else 'gone'}")
    return 0


def do_status(options: argparse.Namespace) -> int:
    """A line a node: its daemons and how many other processes; status 3 when a daemon is missing."""
    layout = load(options.root.absolute())
    running = running_daemons(layout)
    others = Counter(other_processes(layout))
    for node in layout.nodes:
        daemons = ", ".join(sorted(running[node])) or "no daemon runs"
        print(f"{node.name} {node.address} {daemons}" + (f", {others[node]} other processes" if others[node] else ""))
    print("daemons that die are started again" if is_held(layout.root / PID_FILE) else "there is no supervisor")
    return 3 if any(missing_daemons(layout).values()) else 0


def do_shell(options: argparse.Namespace) -> int:
    """A shell with the master node's environment."""
    layout = load(options.root.absolute())
    shell = os.environ.get("SHELL") or "/bin/sh"
    return become(layout, None, [shell])


def do_run(options: argparse.Namespace) -> int:
    """One command with a node's environment."""
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    if not words:
        raise DevclusterError("run: which command?")
    return become(load(options.root.absolute()), options.node, words)


def become(layout: Layout, node_name: str | None, words: Sequence[str]) -> int:
    """Replace this process by a command; the programs beside this Python come first."""
    node = layout.master if node_name is None else layout.node(node_name)
    environment = node.environment(os.environ)
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment.get('PATH', '/usr/bin:/bin')}"
    environment["GANETI_DEVCLUSTER"] = str(layout.root)
    program = shutil.which(words[0], path=environment["PATH"])
    if program is None:
        raise DevclusterError(f"no command {words[0]!r}")
    sys.stdout.flush()
    os.execve(program, list(words), environment)


COMMANDS = {"up": do_up, "down": do_down, "status": do_status, "shell": do_shell, "run": do_run}

if __name__ == "__main__":
    sys.exit(main())
