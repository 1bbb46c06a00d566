"""gnt-os list."""

from collections.abc import Sequence

from ganeti_tx.cli.options import NO_HEADERS, PRIORITY, TABLE, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def list_oses(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The names that gnt-instance add takes, one for each variant."""
    rows = run_opcode(session, options, opcode("OP_OS_DIAGNOSE", output_fields=["name", "variants"]))
    names = [full for name, variants in rows for full in ([f"{name}+{each}" for each in variants] or [name])]
    heading = [] if options.no_headers else ["Name".ljust(max(map(len, names), default=0))]
    show(session, [*heading, *names], lambda: [{"name": name} for name in names], ["name"])
    return ExitCode.SUCCESS


LIST = Command(list_oses, (), (NO_HEADERS, PRIORITY), prints=TABLE)
