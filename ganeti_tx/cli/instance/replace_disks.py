"""gnt-instance replace-disks."""

from collections.abc import Sequence

from ganeti_tx.cli.instance.grow_disk import disk_index
from ganeti_tx.cli.options import (
    DRY_RUN,
    IALLOCATOR,
    ONE_INSTANCE,
    PRIORITY,
    SUBMITTING,
    Command,
    Option,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

AUTO, PRIMARY, SECONDARY, NEW = (
    "replace_auto",
    "replace_on_primary",
    "replace_on_secondary",
    "replace_new_secondary",
)


def replace(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Replace disks in one of the four ways."""
    op = opcode(
        "OP_INSTANCE_REPLACE_DISKS",
        instance_name=names[0],
        mode=mode_of(options),
        disks=disks_of(options.disks),
        remote_node=options.dst_node,
        iallocator=options.iallocator,
        early_release=unless(False, options.early_release),
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def mode_of(options: Parsed) -> str:
    """@raise OpPrereqError: none was chosen, or more than one."""
    chosen = {
        AUTO: options.auto,
        PRIMARY: options.on_primary,
        SECONDARY: options.on_secondary,
        NEW: options.dst_node is not None or options.iallocator is not None,
    }
    modes = [mode for mode, wanted in chosen.items() if wanted]
    if len(modes) != 1:
        raise OpPrereqError("One and only one of the -p, -s, -a, -n and -I options must be passed", ECode.INVAL)
    return modes[0]


def disks_of(text: str | None) -> list[int] | None:
    """The indices in a text such as 0,2. @raise OpPrereqError: it is none."""
    return [disk_index(part) for part in text.split(",")] if text else None


REPLACE = Command(
    replace,
    ONE_INSTANCE,
    (
        switch("-a --auto", "auto", "find out which node has lost disks, and replace these"),
        Option(("--disks",), "disks", "only the disks with these indices, with commas between them", "string"),
        IALLOCATOR,
        switch("--early-release", "early_release", "remove the old copy before the new one is in sync"),
        Option(("-n", "--new-secondary"), "dst_node", "have the copies on this node", "string", metavar="NODE"),
        switch("-p --on-primary", "on_primary", "replace the disks on the primary node"),
        switch("-s --on-secondary", "on_secondary", "replace the disks on the secondary node"),
        *SUBMITTING,
        DRY_RUN,
        PRIORITY,
        switch("--ignore-ipolicy", "ignore_ipolicy", "also to a group whose policy does not admit the instance"),
    ),
)
