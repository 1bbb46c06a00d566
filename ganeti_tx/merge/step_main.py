"""ganeti-merge-step: what nodes of a cluster do that is merged into another one."""

import argparse
import os
import sys

import msgspec

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.merge.steps import PROGRAM, STEPS, Step
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.program_problems import status_of
from ganeti_tx.runtime.tool_parser import ToolParser

DESCRIPTION = """\
Do on a node what merging its cluster into another one takes. 'cluster-merge' calls it over ssh; nobody else needs to.
"""
MAX_DOCUMENT = 4 * 1024 * 1024


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("step", choices=tuple(STEPS), help="what to do; its JSON document comes from standard input")
    return made


def main() -> int:
    """Run one step; the exit status. The answer is a JSON document, every problem a line on standard error."""
    step = STEPS[parser().parse_args().step]
    data = sys.stdin.buffer.read(MAX_DOCUMENT)
    os.umask(0o077)
    return status_of(lambda: answer(step, data))


def answer(step: Step, data: bytes) -> bool:
    """Do a step, and write what comes of it. @raise BootstrapError: its document cannot be read."""
    try:
        asked = msgspec.json.decode(data or b"{}", type=step.takes)
    except msgspec.DecodeError as error:
        raise BootstrapError(f"cannot read the document: {error}") from None
    done = step.work(Paths.from_environment(os.environ), asked)
    sys.stdout.buffer.write(msgspec.json.encode(done) + b"\n")
    sys.stdout.flush()
    return True


if __name__ == "__main__":
    sys.exit(main())
