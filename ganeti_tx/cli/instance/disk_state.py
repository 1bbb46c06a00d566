"""gnt-instance activate-disks and deactivate-disks."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, ONE_INSTANCE, PRIORITY, SUBMITTING, TABLE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode

FORCE = Option(("-f", "--force"), "force", "also of an instance that runs", default=False, action="store_true")
#: Of where a disk is, for programs.
KEYS = ("node", "name", "path")


def activate(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Make the disks ready, and print where each is."""
    op = opcode(
        "OP_INSTANCE_ACTIVATE_DISKS",
        instance_name=names[0],
        ignore_size=unless(False, options.ignore_size),
        wait_for_sync=unless(False, options.wait_for_sync),
    )
    rows = run_opcode(session, options, op)
    lines = (f"{node}:{name}:{path}" for node, name, path in rows)
    show(session, lines, lambda: [dict(zip(KEYS, row, strict=True)) for row in rows], KEYS)
    return ExitCode.SUCCESS


def deactivate(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Take the disks down."""
    op = opcode("OP_INSTANCE_DEACTIVATE_DISKS", instance_name=names[0], force=unless(False, options.force))
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


ACTIVATE = Command(
    activate,
    ONE_INSTANCE,
    (
        *SUBMITTING,
        switch("--ignore-size", "ignore_size", "do not compare the sizes of the disks with those recorded"),
        PRIORITY,
        switch("--wait-for-sync", "wait_for_sync", "wait until mirrored disks are in sync"),
    ),
    prints=TABLE,
)
DEACTIVATE = Command(deactivate, ONE_INSTANCE, (FORCE, *SUBMITTING, DRY_RUN, PRIORITY))
