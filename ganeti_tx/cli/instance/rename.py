"""gnt-instance rename."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, FORCE, ONE_HOST, ONE_INSTANCE, PRIORITY, SUBMITTING, Command, negative
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode


def rename(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Give an instance another name; one that nobody looks up is asked about."""
    old, new = names
    if not (options.name_check or options.force):
        confirm(
            session,
            f"As you disabled the check of the DNS entry, please verify that '{new}' is a FQDN. Continue?",
            "--force",
        )
    op = opcode(
        "OP_INSTANCE_RENAME",
        instance_name=old,
        new_name=new,
        name_check=unless(True, options.name_check),
        ip_check=unless(True, options.ip_check),
    )
    if (renamed := run_opcode(session, options, op)) is not None:
        session.print(f"Instance '{old}' renamed to '{renamed}'")
    return ExitCode.SUCCESS


RENAME = Command(
    rename,
    (*ONE_INSTANCE, *ONE_HOST),
    (
        FORCE,
        negative("--no-ip-check", "ip_check", "do not check that the address of the new name is free"),
        negative("--no-name-check", "name_check", "do not resolve the new name"),
        *SUBMITTING,
        DRY_RUN,
        PRIORITY,
    ),
)
