"""The entry points of the gnt-* programs; each reads no more modules than the command typed needs."""

import importlib
import sys

from ganeti_tx.cli.program import Program, real_context, run
from ganeti_tx.cli.streams import flushed, open_closed


def program_named(name: str) -> Program:
    """The table of a gnt-* program."""
    program = importlib.import_module(f"ganeti_tx.cli.{name.removeprefix('gnt-')}.program").PROGRAM
    assert isinstance(program, Program)
    return program


def _start(name: str) -> int:
    open_closed()
    return flushed(int(run(program_named(name), sys.argv[1:], real_context())))


def gnt_backup() -> int:
    """The program gnt-backup; its exit status."""
    return _start("gnt-backup")


def gnt_cluster() -> int:
    """The program gnt-cluster; its exit status."""
    return _start("gnt-cluster")


def gnt_debug() -> int:
    """The program gnt-debug; its exit status."""
    return _start("gnt-debug")


def gnt_filter() -> int:
    """The program gnt-filter; its exit status."""
    return _start("gnt-filter")


def gnt_group() -> int:
    """The program gnt-group; its exit status."""
    return _start("gnt-group")


def gnt_instance() -> int:
    """The program gnt-instance; its exit status."""
    return _start("gnt-instance")


def gnt_job() -> int:
    """The program gnt-job; its exit status."""
    return _start("gnt-job")


def gnt_network() -> int:
    """The program gnt-network; its exit status."""
    return _start("gnt-network")


def gnt_node() -> int:
    """The program gnt-node; its exit status."""
    return _start("gnt-node")


def gnt_os() -> int:
    """The program gnt-os; its exit status."""
    return _start("gnt-os")


def gnt_storage() -> int:
    """The program gnt-storage; its exit status."""
    return _start("gnt-storage")
