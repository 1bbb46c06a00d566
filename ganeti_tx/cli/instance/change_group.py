"""gnt-instance change-group."""

from collections.abc import Sequence

from ganeti_tx.cli.options import IALLOCATOR, ONE_INSTANCE, PRIORITY, SUBMITTING, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_job, run_opcode, unless
from ganeti_tx.cli.submitted import ended
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.opcodes.types import ReplaceDisksMode


def change_group(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Have one instance brought to another node group, or to that of its primary node when that was interrupted."""
    if options.cleanup:
        return clean_up(session, options, names[0])
    op = opcode(
        "OP_INSTANCE_CHANGE_GROUP",
        instance_name=names[0],
        target_groups=options.to or None,
        iallocator=options.iallocator,
        early_release=unless(False, options.early_release),
    )
    answer = run_opcode(session, options, op)
    doing = f"change of the group of instance '{names[0]}'"
    return ended(session, answer["jobs"], f"Instance '{names[0]}' changed group successfully.", doing)


def clean_up(session: Session, options: Parsed, name: str) -> int:
    """Bring the second copies of an instance that is in two groups to the group of its primary node."""
    if options.to:
        raise UsageError("--cleanup brings the instance to the group of its primary node; leave out --to")
    rows = session.client.query("instance", ["pnode.group", "snodes.group"], selection([name], force_filter=False))
    [(_status, primary), (_status, others)] = rows["data"][0]
    if set(others or ()) <= {primary}:
        raise OpPrereqError(f"instance {name} is in group {primary} only; there is nothing to clean up", ECode.STATE)
    op = opcode(
        "OP_INSTANCE_REPLACE_DISKS",
        instance_name=name,
        mode=ReplaceDisksMode.NEW_SECONDARY.value,
        iallocator=options.iallocator or ".",
        early_release=unless(False, options.early_release),
    )
    run_job(session, options, [op])
    session.print(f"Instance '{name}' is in group {primary}.")
    return ExitCode.SUCCESS


#: design-2.3, node groups: an interrupted move between groups can be cleaned up.
CLEANUP = switch(
    "--cleanup", "cleanup", "bring an instance that was left in two groups to that of its primary node"
)._replace(own=True)

CHANGE_GROUP = Command(
    change_group,
    ONE_INSTANCE,
    (
        Option(
            ("--to",), "to", "bring the instance to this group; may be repeated", "string", None, "append",
            metavar="<group>",
        ),
        IALLOCATOR,
        switch("--early-release", "early_release", "release locks as soon as possible"),
        CLEANUP,
        PRIORITY,
        *SUBMITTING,
    ),
)  # fmt: skip
