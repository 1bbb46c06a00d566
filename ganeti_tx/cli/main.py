"""The entry points of the gnt-* programs; each reads no more modules than the command typed needs."""

import gc
import importlib
import os
import sys
from contextlib import suppress
from typing import NoReturn

from ganeti_tx.cli.program import Program, real_context, run
from ganeti_tx.cli.streams import flushed, open_closed

#: Modules are objects that stay: to look for what could go among them takes longer than many a command.
OBJECTS_BETWEEN_SEARCHES = 100_000


def program_named(name: str) -> Program:
    """The table of a gnt-* program."""
    program = importlib.import_module(f"ganeti_tx.cli.{name.removeprefix('gnt-')}.program").PROGRAM
    assert isinstance(program, Program)
    return program


def _start(name: str) -> NoReturn:
    """Run the program. All is written when it is over, and so the interpreter need not take down what it has read."""
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES)
    open_closed()
    status = flushed(int(run(program_named(name), sys.argv[1:], real_context())))
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(status)


def gnt_backup() -> NoReturn:
    """The program gnt-backup."""
    _start("gnt-backup")


def gnt_cluster() -> NoReturn:
    """The program gnt-cluster."""
    _start("gnt-cluster")


def gnt_debug() -> NoReturn:
    """The program gnt-debug."""
    _start("gnt-debug")


def gnt_filter() -> NoReturn:
    """The program gnt-filter."""
    _start("gnt-filter")


def gnt_group() -> NoReturn:
    """The program gnt-group."""
    _start("gnt-group")


def gnt_instance() -> NoReturn:
    """The program gnt-instance."""
    _start("gnt-instance")


def gnt_job() -> NoReturn:
    """The program gnt-job."""
    _start("gnt-job")


def gnt_network() -> NoReturn:
    """The program gnt-network."""
    _start("gnt-network")


def gnt_node() -> NoReturn:
    """The program gnt-node."""
    _start("gnt-node")


def gnt_os() -> NoReturn:
    """The program gnt-os."""
    _start("gnt-os")


def gnt_storage() -> NoReturn:
    """The program gnt-storage."""
    _start("gnt-storage")
