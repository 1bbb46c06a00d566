"""gnt-cluster rename."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, FORCE, ONE_HOST, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

DANGER = (
    "This will rename the cluster from '{old}' to '{new}'. If you are connected over the network to the cluster name, "
    "the operation is very dangerous as the IP address will be removed from the node and the change may not go "
    "through. Continue?"
)


def rename(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Give the cluster another name, and with it another address."""
    (new,) = names
    (old,) = session.client.query_config_values(["cluster_name"])
    if not options.force:
        confirm(session, DANGER.format(old=old, new=new), "--force")
    if (renamed := run_opcode(session, options, opcode("OP_CLUSTER_RENAME", name=new))) is not None:
        session.print(f"Cluster renamed from '{old}' to '{renamed}'")
    return ExitCode.SUCCESS


RENAME = Command(rename, ONE_HOST, (FORCE, DRY_RUN))
