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
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode

TARGET_NODE = Option(
    ("-n", "--target-node"), "dst_node", "the node to bring it to, if its disks are shared", "string", metavar="NODE"
)
IGNORE_POLICY = switch("--ignore-ipolicy", "ignore_ipolicy", "let the instance violate the policy of its group")
IGNORE_CONSISTENCY = switch(
    "--ignore-consistency", "ignore_consistency", "go on if copies are not whole, or the old node does not answer"
)
CLEANUP = switch("--cleanup", "cleanup", "find out where the instance runs after a move that broke off, and repair")


def failover(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Bring one instance to another node by stopping and starting it, after a question unless forced."""
    name = names[0]
    if not options.force:
        ask(
            session,
            name,
            f"Failover will happen to image {name}. This requires a shutdown of the instance. Continue?",
        )
    op = opcode(
        "OP_INSTANCE_FAILOVER",
        instance_name=name,
        ignore_consistency=unless(False, options.ignore_consistency),
        shutdown_timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
        iallocator=options.iallocator,
        target_node=options.dst_node,
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
        cleanup=unless(False, options.cleanup),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


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
    ),
)
