"""Where the daemons' programs are."""

import shutil
import sys
from pathlib import Path

from ganeti_tx.errors import OpExecError


def own_program(daemon: str) -> str:
    """A daemon's program beside this Python, or on the search path. @raise OpExecError: there is none."""
    beside = Path(sys.executable).parent / daemon
    program = str(beside) if beside.exists() else shutil.which(daemon)
    if program is None:
        raise OpExecError(f"there is no program {daemon}; install ganeti_tx (pip install .)")
    return program
