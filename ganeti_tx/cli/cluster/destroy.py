"""gnt-cluster destroy."""

from collections.abc import Sequence

from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.options import YES_DO_IT, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def destroy(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Let the cluster check that nothing is left in it, then take this node out of it."""
    if not options.yes_do_it:
        session.warn("Destroying a cluster cannot be undone. If you really want to, use --yes-do-it")
        return ExitCode.FAILURE
    master_uuid = run_opcode(session, options, opcode("OP_CLUSTER_DESTROY"))
    return run_bootstrap(session, "destroy", {"master_uuid": master_uuid})


DESTROY = Command(destroy, (), (YES_DO_IT,))
