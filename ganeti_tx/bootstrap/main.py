"""ganeti-bootstrap: the steps that come before a daemon can do them; each reads one JSON document from standard input."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping

from ganeti_tx.bootstrap import member
from ganeti_tx.bootstrap.failover import LOCK_NAME, failover
from ganeti_tx.bootstrap.init import init, take_back
from ganeti_tx.bootstrap.join import send
from ganeti_tx.bootstrap.join import take_back as take_back_join
from ganeti_tx.bootstrap.join_documents import read_request
from ganeti_tx.bootstrap.member import leave, receive
from ganeti_tx.bootstrap.renewal import renew_files
from ganeti_tx.bootstrap.settings import read_settings
from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser

DESCRIPTION = "Do what must be done before there are daemons. The gnt commands call it; nobody else needs to."
MAX_DOCUMENT = 64 * 1024 * 1024


def do_init(paths: Paths, data: bytes) -> None:
    """Make a cluster."""
    init(paths, read_settings(data))


def do_destroy(paths: Paths, data: bytes) -> None:
    """Take the last node out of its cluster."""
    take_back(paths)
    for name in (member.LOCK_NAME, LOCK_NAME):
        (paths.run_dir / name).unlink(missing_ok=True)


def do_node_join(paths: Paths, data: bytes) -> None:
    """On the master: set a new node up."""
    send(paths, read_request(data))


def do_node_unjoin(paths: Paths, data: bytes) -> None:
    """On the master: take that back, since the node was not added."""
    take_back_join(paths, read_request(data))


STEPS: Mapping[str, Callable[[Paths, bytes], None]] = {
    "init": do_init,
    "destroy": do_destroy,
    "node-join": do_node_join,
    "node-unjoin": do_node_unjoin,
    "join": receive,
    "leave": leave,
    "master-failover": failover,
    "renew-files": renew_files,
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser("ganeti-bootstrap", description=DESCRIPTION)
    made.add_argument("step", choices=tuple(STEPS), help="what to do; its JSON document comes from standard input")
    return made


def main() -> int:
    """Run one step; the exit status. Every problem is a line on standard error."""
    step = parser().parse_args().step
    data = sys.stdin.buffer.read(MAX_DOCUMENT)
    os.umask(0o077)
    try:
        STEPS[step](Paths.from_environment(os.environ), data)
    except GanetiError as error:
        for line in str(error).splitlines():
            print(f"Failure: {line}", file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"Failure: {error.strerror or error}{where}", file=sys.stderr)
        return ExitCode.FAILURE
    except KeyboardInterrupt:
        print("Failure: interrupted", file=sys.stderr)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
