"""gnt-backup remove."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, ONE_WORD, PRIORITY, SUBMITTING, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def remove(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Remove the exports of one instance, which need not be in the cluster any more."""
    run_opcode(session, options, opcode("OP_BACKUP_REMOVE", instance_name=names[0]))
    return ExitCode.SUCCESS


REMOVE = Command(remove, ONE_WORD, (DRY_RUN, PRIORITY, *SUBMITTING))
