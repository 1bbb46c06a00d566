"""gnt-instance failover and migrate."""

from collections.abc import Sequence

from ganeti_tx.cli.options import (
    DRY_RUN,
    FORCE,
    IALLOCATOR,
    ONE_INSTANCE,
    PRIORITY,
    SHUTDOWN_TIMEOUT,
    SUBMITTING,
    Command,
    Option,
    negative,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

TARGET_NODE = Option(
    ("-n", "--target-node"),
    "dst_node",
    "the node to bring it to, if its disks are shared, or with --secondary-node",
    "string",
    metavar="NODE",
)
SECONDARY_NODE = Option(
    ("--secondary-node",),
    "secondary_node",
    "which of the two nodes of a mirrored instance keeps its copy when -n names a third one",
    "string",
    metavar="NODE",
    own=True,
)
WAIT_FOR_SYNC = switch(
    "--wait-for-sync",
    "wait_for_sync",
    "start it on a third node only when that has all its data, not while it is filled",
)._replace(own=True)
IGNORE_POLICY = switch("--ignore-ipolicy", "ignore_ipolicy", "let the instance violate the policy of its group")
IGNORE_CONSISTENCY = switch(
    "--ignore-consistency", "ignore_consistency", "go on if copies are not whole, or the old node does not answer"
)
CLEANUP = switch("--cleanup", "cleanup", "find out where the instance runs after a move that broke off, and repair")
MODE = Option(
    ("--migration-mode",), "migration_mode", "live (the guest goes on meanwhile) or non-live", "choice",
    choices=("live", "non-live"),
)  # fmt: skip
COPY_DISKS = switch(
    "--copy-disks", "copy_disks", "take disks along that only its node has, to the node that -n names"
)._replace(own=True)
NON_LIVE = negative("--non-live", "live", "let the guest stand still meanwhile; the same as --migration-mode=non-live")
NO_RUNTIME_CHANGES = negative(
    "--no-runtime-changes", "allow_runtime_chgs", "do not reduce the memory of an instance to make it fit"
)
ALLOW_FAILOVER = switch("--allow-failover", "allow_failover", "fail over what cannot be migrated")
IGNORE_VERSIONS = switch(
    "--ignore-hvversions", "ignore_hvversions", "try it even if the new node's hypervisor is older than the old one's"
)
MIGRATION = (NON_LIVE, MODE, TARGET_NODE, IALLOCATOR, IGNORE_POLICY, NO_RUNTIME_CHANGES)

#: Also with --force; programs are not asked, as they could not answer.
OFFLINE_FIRST = "To failover instance {}, the source node must be marked offline first. Is this already the case?"


def failover(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Bring one instance to another node by stopping and starting it, after a question unless forced."""
    name = names[0]
    if not options.force:
        ask(
            session,
            name,
            f"Failover will happen to image {name}. This requires a shutdown of the instance. Continue?",
        )
    if options.ignore_consistency and session.interactive and not is_source_offline(session, name):
        confirm(session, OFFLINE_FIRST.format(name), "--force")
    op = opcode(
        "OP_INSTANCE_FAILOVER",
        instance_name=name,
        ignore_consistency=unless(False, options.ignore_consistency),
        shutdown_timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
        iallocator=options.iallocator,
        target_node=options.dst_node,
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
        cleanup=unless(False, options.cleanup),
        secondary_node=options.secondary_node,
        wait_for_sync=unless(False, options.wait_for_sync),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def is_source_offline(session: Session, name: str) -> bool:
    """Whether the node that an instance comes from is marked so; of one that is not there the job says more."""
    for ((_status, node),) in session.client.query("instance", ["pnode"], selection([name], force_filter=False))[
        "data"
    ]:
        return any(row[0][1] for row in session.client.query("node", ["offline"], ["==", "name", node])["data"])
    return True


def ask(session: Session, name: str, text: str) -> None:
    """@raise Declined: no. @raise OpPrereqError: there is no such instance."""
    session.client.query("instance", ["name"], selection([name], force_filter=False))
    confirm(session, text, "--force")


FAILOVER = Command(
    failover,
    ONE_INSTANCE,
    (
        FORCE,
        IGNORE_CONSISTENCY,
        *SUBMITTING,
        SHUTDOWN_TIMEOUT,
        DRY_RUN,
        PRIORITY,
        TARGET_NODE,
        IALLOCATOR,
        IGNORE_POLICY,
        CLEANUP,
        SECONDARY_NODE,
        WAIT_FOR_SYNC,
    ),
)


def migrate(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Bring one running instance to another node, after a question unless forced."""
    name = names[0]
    mode = chosen_mode(options)
    if not options.force:
        what = "recovered from a failed migration. Note that the migration procedure (including cleanup)"
        ask(
            session,
            name,
            f"Instance {name} will be {what if options.cleanup else 'migrated. Note that migration'} might impact the"
            " instance if anything goes wrong (e.g. due to bugs in the hypervisor). Continue?",
        )
    op = opcode(
        "OP_INSTANCE_MIGRATE",
        instance_name=name,
        mode=mode,
        cleanup=unless(False, options.cleanup),
        iallocator=options.iallocator,
        target_node=options.dst_node,
        secondary_node=options.secondary_node,
        allow_failover=unless(False, options.allow_failover),
        allow_runtime_changes=unless(True, options.allow_runtime_chgs),
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
        ignore_hvversions=unless(False, options.ignore_hvversions),
        copy_disks=unless(False, options.copy_disks),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def chosen_mode(options: Parsed) -> str | None:
    """@raise OpPrereqError: it was said twice."""
    if options.live:
        return str(options.migration_mode) if options.migration_mode else None
    if options.migration_mode is not None:
        raise OpPrereqError("Only one of the --non-live and --migration-mode options can be passed", ECode.INVAL)
    return "non-live"


MIGRATE = Command(
    migrate,
    ONE_INSTANCE,
    (
        FORCE,
        CLEANUP,
        DRY_RUN,
        PRIORITY,
        ALLOW_FAILOVER,
        IGNORE_VERSIONS,
        SECONDARY_NODE,
        COPY_DISKS,
        *MIGRATION,
        *SUBMITTING,
    ),
)
