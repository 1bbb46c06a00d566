"""Other programs, run on this terminal; read only by the commands that run one."""

import subprocess
import sys
from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError


def run_program(argv: Sequence[str], document: bytes | None) -> int:
    """Run another program on this terminal, the document on its standard input; its exit status.

    @raise OpPrereqError: there is no such program.
    """
    sys.stdout.flush()
    try:
        if document is None:
            return subprocess.call(argv)
        return subprocess.run(argv, input=document, check=False).returncode
    except OSError as error:
        raise OpPrereqError(f"Cannot run {argv[0]}: {error.strerror}", ECode.ENVIRON) from None
