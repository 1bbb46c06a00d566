"""Nodes by hand.

up [--count N] [--packages "P ..."] STATE   nodes with this checkout installed; STATE: a new directory, not below /etc /var ...
enter STATE K COMMAND...                    run COMMAND in node K as root; for example bash
off STATE K, on STATE K, reboot STATE K     power: what runs is killed at once, what is on its disk stays
down STATE                                  end and remove all of it
"""

import argparse
import os
import sys
from pathlib import Path

from ganeti_tx.test.nodes.layers import LayerFailed, cache_directory, ganeti
from ganeti_tx.test.nodes.machine import missing
from ganeti_tx.test.nodes.nodes import NodeFailed, Nodes


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m ganeti_tx.test.nodes", usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("up", "enter", "off", "on", "reboot", "down"):
        one = verbs.add_parser(verb)
        if verb == "up":
            one.add_argument("--count", type=int, default=3)
            one.add_argument("--packages", default="")
        one.add_argument("state", type=Path)
        if verb in ("enter", "off", "on", "reboot"):
            one.add_argument("node", type=int)
        if verb == "enter":
            one.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def act(options: argparse.Namespace) -> None:
    """Do what was asked. @raise NodeFailed, LayerFailed: it cannot be done."""
    nodes = Nodes(options.state.resolve())
    if options.verb == "up":
        reason = missing(cache_directory())
        if reason is not None:
            raise NodeFailed(reason)
        nodes.up(ganeti(options.packages), options.count)
    elif options.verb == "enter":
        argv = nodes.entering(options.node, options.command or ["bash"])
        os.execvp(argv[0], argv)
    elif options.verb == "down":
        nodes.down()
    else:
        {"off": nodes.power_off, "on": nodes.power_on, "reboot": nodes.reboot}[options.verb](options.node)


def main() -> int:
    """The exit status."""
    try:
        act(arguments())
    except (NodeFailed, LayerFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
