"""gnt-storage info."""

from collections.abc import Sequence

from ganeti_tx.cli.options import PRIORITY, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def info(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """What is known of each provider; only the name of one that is not there. Failure when there is none at all."""
    fields = ["name", "nodegroup_status", "parameters"]
    rows = run_opcode(session, options, opcode("OP_EXT_STORAGE_DIAGNOSE", output_fields=fields))
    if not rows:
        session.warn("Can't get the ExtStorage providers list")
        return ExitCode.FAILURE
    for name, groups, parameters in rows:
        if not names or name in names:
            session.print(f"{name}:")
            session.print("  - node groups:")
            for group in sorted(groups):
                session.print(f"    - {group}: {'valid' if groups[group] else 'invalid'}")
            session.print("  - parameters:")
            for parameter, meaning in parameters:
                session.print(f"    - {parameter}: {meaning}")
            session.print()
    for name in sorted(set(names) - {name for name, *_rest in rows}):
        session.print(f"{name}: ")
        session.print()
    return ExitCode.SUCCESS


INFO = Command(info, (Argument("os"),), (PRIORITY,))
