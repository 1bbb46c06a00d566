"""`query-config`: values of the configuration by their places, as the master candidates' daemons have them."""

import argparse

from ganeti_tx.confd.command import add_common, finished
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "query-config"
DESCRIPTION = """\
Show values of the configuration by their JSON pointers, such as /cluster/tags. The configuration daemons of the master candidates
are asked, so it works on any node, and without the master.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    add_common(made)
    made.add_argument("pointers", metavar="POINTER", nargs="+", help="where a value stands; an empty one is the whole")
    return made


def main() -> int:
    """The exit status: 1 when there is no answer to one, 2 for a wrong command line."""
    options = parser().parse_args()
    return max(
        finished(argparse.Namespace(**vars(options), word="config", argument=pointer)) for pointer in options.pointers
    )
