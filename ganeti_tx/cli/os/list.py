"""gnt-os list."""

from collections.abc import Sequence

from ganeti_tx.cli.options import NO_HEADERS, PRIORITY, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def list_oses(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The names that gnt-instance add takes, one for each variant."""
    rows = run_opcode(session, options, opcode("OP_OS_DIAGNOSE", output_fields=["name", "variants"]))
    names = [full for name, variants in rows for full in ([f"{name}+{each}" for each in variants] or [name])]
    if not options.no_headers:
        session.print("Name".ljust(max(map(len, names), default=0)))
    for name in names:
        session.print(name)
    return ExitCode.SUCCESS


LIST = Command(list_oses, (), (NO_HEADERS, PRIORITY))
