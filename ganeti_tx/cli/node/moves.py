"""gnt-node failover and migrate: all primary instances of a node, each by a job of its own."""

from collections.abc import Sequence

from ganeti_tx.cli.instance.moves import IGNORE_CONSISTENCY, MIGRATION, chosen_mode
from ganeti_tx.cli.options import FORCE, IALLOCATOR, ONE_NODE, PRIORITY, SUBMITTING, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import followed, opcode, prepared, run_opcode, unless
from ganeti_tx.cli.submitted import follow_submitted
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError


def primaries(session: Session, word: str) -> tuple[str, list[str]]:
    """The node's full name, and its primary instances. @raise OpPrereqError: there is no such node."""
    rows = session.client.query("node", ["name", "pinst_list"], ["|", ["==", "name", word]])["data"]
    if not rows:
        raise OpPrereqError(f"Node '{word}' not known", ECode.NOENT)
    [[(_, name), (_, instances)]] = rows
    return str(name), sorted(instances or ())


def migrate(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Migrate each, after a question unless forced; failure when one of them failed."""
    mode = chosen_mode(options)
    node, names = primaries(session, words[0])
    if not names:
        session.print(f"No primary instances on node {node}, exiting.")
        return ExitCode.SUCCESS
    if not options.force:
        confirm(session, f"Migrate instance(s) {', '.join(names)}?", "--force")
    op = opcode(
        "OP_NODE_MIGRATE",
        node_name=node,
        mode=mode,
        iallocator=options.iallocator,
        target_node=options.dst_node,
        allow_runtime_changes=unless(True, options.allow_runtime_chgs),
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
    )
    result = run_opcode(session, options, op)
    _, failed = follow_submitted(session, result["jobs"])
    if failed:
        session.print(f"There were {failed} errors during the node migration.")
        return ExitCode.FAILURE
    session.print("All instances migrated successfully.")
    return ExitCode.SUCCESS


def failover(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Fail each over, after a question unless forced; failure when one of them failed."""
    node, names = primaries(session, words[0])
    if not names:
        session.warn(f"No primary instances on node {node}, exiting.")
        return ExitCode.SUCCESS
    if not options.force:
        confirm(session, f"Fail over instance(s) {', '.join(names)}?", "--force")
    ops = [
        opcode(
            "OP_INSTANCE_FAILOVER",
            instance_name=name,
            ignore_consistency=unless(False, options.ignore_consistency),
            iallocator=options.iallocator,
        )
        for name in names
    ]
    answers = session.client.submit_many_jobs([[prepared(session, options, op)] for op in ops])
    session.print(f"Submitted jobs {', '.join(str(job) for well, job in answers if well)}")
    failed = 0
    for name, (well, answer) in zip(names, answers, strict=True):
        if not well:
            session.warn(f"Failed to submit job for {name}: {answer}")
        failed += not (well and followed(session, answer, name))
    if failed:
        session.print(f"There were errors during the failover:\n{failed} error(s) out of {len(names)} instance(s).")
        return ExitCode.FAILURE
    session.print(f"All {len(names)} instance(s) failed over successfully.")
    return ExitCode.SUCCESS


MIGRATE = Command(migrate, ONE_NODE, (FORCE, PRIORITY, *MIGRATION, *SUBMITTING))
FAILOVER = Command(failover, ONE_NODE, (FORCE, IGNORE_CONSISTENCY, IALLOCATOR, PRIORITY))
