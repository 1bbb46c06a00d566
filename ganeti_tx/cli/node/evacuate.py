"""gnt-node evacuate."""

from collections.abc import Sequence

from ganeti_tx.cli.options import FORCE, IALLOCATOR, ONE_NODE, PRIORITY, SUBMITTING, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.submitted import ended
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.opcodes.types import EvacuationMode

#: Of each mode, the fields of a node that name its instances.
FIELDS = {
    EvacuationMode.ALL: ("pinst_list", "sinst_list"),
    EvacuationMode.PRIMARY_ONLY: ("pinst_list",),
    EvacuationMode.SECONDARY_ONLY: ("sinst_list",),
}


def evacuate(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Have instances brought away from a node, each by a job of its own, after a question unless forced."""
    mode, name = mode_of(session, options), names[0]
    instances = instances_of(session, name, mode)
    if not instances:
        session.warn(f"No instances to evacuate on node(s) {name}, exiting.")
        return ExitCode.SUCCESS
    if not options.force:
        confirm(session, f"Relocate instance(s) {', '.join(instances)} from node(s) {name}?", "--force")
    op = opcode(
        "OP_NODE_EVACUATE",
        node_name=name,
        mode=mode.value,
        remote_node=options.dst_node,
        iallocator=None if options.dst_node else options.iallocator,
        early_release=unless(False, options.early_release),
        ignore_soft_errors=unless(False, options.ignore_soft_errors),
    )
    answer = run_opcode(session, options, op)
    return ended(session, answer["jobs"], "All instances evacuated successfully.", "evacuation of the node")


def instances_of(session: Session, name: str, mode: EvacuationMode) -> list[str]:
    """Those that are concerned; none on a node that there is not."""
    try:
        rows = session.client.query("node", FIELDS[mode], ["|", ["==", "name", name]])["data"]
    except OpPrereqError as error:
        if error.ecode is not ECode.NOENT:
            raise
        return []
    return sorted({instance for row in rows for _status, found in row for instance in found or ()})


def mode_of(session: Session, options: Parsed) -> EvacuationMode:
    """Which instances. @raise OpPrereqError: the options exclude each other."""
    if options.primary_only and options.secondary_only:
        raise OpPrereqError("Only one of the --primary-only and --secondary-only options can be passed", ECode.INVAL)
    if options.dst_node:
        session.warn("New secondary node given (disabling iallocator), hence evacuating secondary instances only.")
        return EvacuationMode.SECONDARY_ONLY
    if options.primary_only:
        return EvacuationMode.PRIMARY_ONLY
    if options.secondary_only:
        return EvacuationMode.SECONDARY_ONLY
    return EvacuationMode.ALL


EVACUATE = Command(
    evacuate,
    ONE_NODE,
    (
        FORCE,
        IALLOCATOR,
        switch("--ignore-soft-errors", "ignore_soft_errors", "let the iallocator pass over soft restrictions"),
        Option(
            ("-n", "--new-secondary"), "dst_node", "the node that is to have the second copies", "string",
            metavar="NODE",
        ),
        switch("--early-release", "early_release", "release locks as soon as possible"),
        PRIORITY,
        switch("-p --primary-only", "primary_only", "only instances that run on the node"),
        switch("-s --secondary-only", "secondary_only", "only instances that have their second copies on the node"),
        *SUBMITTING,
    ),
)  # fmt: skip
