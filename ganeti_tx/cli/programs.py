"""Other programs, run on this terminal; read only by the commands that run one."""

import subprocess
import sys
from collections.abc import Sequence

from ganeti_tx.cli.interrupts import held_back
from ganeti_tx.errors import ECode, OpPrereqError


def run_program(argv: Sequence[str], document: bytes | None) -> int:
    """Run another program on this terminal, the document on its standard input; its exit status.

    @raise OpPrereqError: there is no such program.
    """
    sys.stdout.flush()
    try:
        if document is None:
            return subprocess.call(argv)
        return _run_to_its_end(argv, document)
    except OSError as error:
        raise OpPrereqError(f"Cannot run {argv[0]}: {error.strerror}", ECode.ENVIRON) from None


def capture_program(argv: Sequence[str]) -> tuple[int, str]:
    """Run another program without input; its exit status and all that it wrote, to either output.

    @raise OpPrereqError: there is no such program.
    """
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except OSError as error:
        raise OpPrereqError(f"Cannot run {argv[0]}: {error.strerror}", ECode.ENVIRON) from None
    return done.returncode, done.stdout.decode("utf-8", "backslashreplace")


def _run_to_its_end(argv: Sequence[str], document: bytes) -> int:
    """An interrupt from the terminal reaches the program, too, which takes back what it did: it is not killed meanwhile.

    @raise KeyboardInterrupt: it has ended after one.
    """
    with held_back() as interrupts:
        status = subprocess.run(argv, input=document, check=False).returncode
    if interrupts:
        raise KeyboardInterrupt
    return status
