"""A program of this family on another node: in the same directory as here, or where root finds programs there."""

import shlex
from pathlib import Path

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.errors import OpExecError
from ganeti_tx.runtime.daemon_programs import own_program

#: How a command ends that is not there.
NO_COMMAND = 127


def remote_words(program: str, *arguments: str) -> list[str]:
    """What the remote shell is to run; it puts words together without quoting them, and `$PATH` is for the shell there."""
    here = directory(program)
    searched = ["env", f"PATH={shlex.quote(str(here))}:$PATH"] if here is not None else []
    return [*searched, program, *arguments]


def missing(host: str, program: str) -> BootstrapError:
    """What is to be done when there is none."""
    here = directory(program)
    where = "" if here is None else f" in {here} (where it is here) or"
    to_do = "install ganeti_tx there" + ("" if here is None else f" with {here}/pip") + " and run ganeti-setup"
    return BootstrapError(f"node {host} has no {program}{where} on root's search path; {to_do}")


def directory(program: str) -> Path | None:
    """Where a program is on this node; None if it is nowhere."""
    try:
        return Path(own_program(program)).absolute().parent
    except OpExecError:
        return None
