"""gnt-group add, modify, rename, remove, assign-nodes and evacuate."""

from collections.abc import Sequence

from ganeti_tx.cli.group.options import SETTINGS, settings_of
from ganeti_tx.cli.options import (
    DRY_RUN,
    IALLOCATOR,
    ONE_GROUP,
    PRIORITY,
    SUBMITTING,
    Argument,
    Command,
    Option,
    switch,
)
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.submitted import ended
from ganeti_tx.errors import ExitCode


def add(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Make a group without nodes."""
    run_opcode(session, options, opcode("OP_GROUP_ADD", group_name=names[0], **settings_of(options)))
    return ExitCode.SUCCESS


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change settings of a group, and show what the job tells of them."""
    op = opcode("OP_GROUP_SET_PARAMS", group_name=names[0], **settings_of(options))
    if result := run_opcode(session, options, op):
        session.print(f"Modified node group {names[0]}")
        for name, value in result:
            session.print(f" - {name} -> {value}")
    return ExitCode.SUCCESS


def rename(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Give a group another name."""
    run_opcode(session, options, opcode("OP_GROUP_RENAME", group_name=names[0], new_name=names[1]))
    return ExitCode.SUCCESS


def remove(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Remove a group without nodes."""
    run_opcode(session, options, opcode("OP_GROUP_REMOVE", group_name=names[0]))
    return ExitCode.SUCCESS


def assign_nodes(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Move nodes to a group."""
    op = opcode("OP_GROUP_ASSIGN_NODES", group_name=names[0], nodes=list(names[1:]), force=unless(False, options.force))
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def evacuate(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Have all instances of a group moved to other groups, each in a job of its own; failure when one fails."""
    op = opcode(
        "OP_GROUP_EVACUATE",
        group_name=names[0],
        target_groups=options.to or None,
        iallocator=options.iallocator,
        early_release=unless(False, options.early_release),
        sequential=unless(False, options.sequential),
        force_failover=unless(False, options.force_failover),
    )
    answer = run_opcode(session, options, op)
    if answer is None:
        return ExitCode.SUCCESS  # a dry run submits nothing
    if not answer["jobs"]:
        session.print(f"Group {names[0]} has no instances")
        return ExitCode.SUCCESS
    return ended(session, answer["jobs"], "All instances evacuated successfully.", "evacuation of the group")


FORCE = switch("-f --force", "force", "also when instances are then in two groups, or without their networks")

ADD = Command(add, ONE_GROUP, (DRY_RUN, *SETTINGS, PRIORITY, *SUBMITTING))
MODIFY = Command(modify, ONE_GROUP, (DRY_RUN, *SUBMITTING, *SETTINGS, PRIORITY))
RENAME = Command(rename, (Argument("group", 2, 2),), (DRY_RUN, *SUBMITTING, PRIORITY))
REMOVE = Command(remove, ONE_GROUP, (DRY_RUN, PRIORITY, *SUBMITTING))
ASSIGN_NODES = Command(assign_nodes, (*ONE_GROUP, Argument("node")), (DRY_RUN, FORCE, PRIORITY, *SUBMITTING))
EVACUATE = Command(
    evacuate,
    ONE_GROUP,
    (
        Option(
            ("--to",),
            "to",
            "move instances to this group; may be repeated",
            "string",
            None,
            "append",
            metavar="<group>",
        ),
        IALLOCATOR,
        switch("--early-release", "early_release", "release locks as soon as possible"),
        switch("--sequential", "sequential", "move one instance after the other"),
        switch("--force-failover", "force_failover", "stop instances instead of migrating them"),
        *SUBMITTING,
    ),
)
