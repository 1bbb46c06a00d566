"""gnt-cluster repair-disk-sizes."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, MANY_INSTANCES, PRIORITY, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def repair(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Have the sizes recorded that disks really have; what was wrong is told as the job goes."""
    run_opcode(session, options, opcode("OP_CLUSTER_REPAIR_DISK_SIZES", instances=list(names) or None))
    return ExitCode.SUCCESS


REPAIR = Command(repair, MANY_INSTANCES, (DRY_RUN, PRIORITY))
