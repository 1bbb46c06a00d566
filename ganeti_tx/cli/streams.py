"""The streams that a program has got, or not: some are closed, or lead to where nothing can be written."""

import os
import sys

from ganeti_tx.errors import ExitCode


def open_closed() -> None:
    """What was closed by whoever started the program leads nowhere; what it writes there was not wanted."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))


def flushed(status: int) -> int:
    """The exit status after all has been written; a result that could not be is none."""
    try:
        sys.stdout.flush()
    except OSError as error:
        lead_nowhere()
        if status == ExitCode.SUCCESS and not isinstance(error, BrokenPipeError):
            print(f"Failure: cannot write the result: {error.strerror}", file=sys.stderr)
        return status or ExitCode.FAILURE
    return status


def lead_nowhere() -> None:
    """Nothing more may be written to standard output, not even by the interpreter's last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
