"""ganeti-merge-step: what nodes of a cluster do that is merged into another one."""

import argparse
import os
import sys

import msgspec

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.merge.steps import PROGRAM, STEPS
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths

DESCRIPTION = """\
Do on a node what merging its cluster into another one takes. 'cluster-merge' calls it over ssh; nobody else needs to.
"""
MAX_DOCUMENT = 4 * 1024 * 1024


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("step", choices=tuple(STEPS), help="what to do; its JSON document comes from standard input")
    return made


def main() -> int:
    """Run one step; the exit status. The answer is a JSON document, every problem a line on standard error."""
    step = STEPS[parser().parse_args().step]
    data = sys.stdin.buffer.read(MAX_DOCUMENT)
    os.umask(0o077)
    try:
        try:
            asked = msgspec.json.decode(data or b"{}", type=step.takes)
        except msgspec.DecodeError as error:
            raise BootstrapError(f"cannot read the document: {error}") from None
        answer = step.work(Paths.from_environment(os.environ), asked)
    except GanetiError as error:
        for line in str(error).splitlines():
            print(line, file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        print(reason(error), file=sys.stderr)
        return ExitCode.FAILURE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return ExitCode.FAILURE
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.flush()
    return ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
