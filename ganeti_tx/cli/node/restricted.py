"""gnt-node restricted-command."""

from collections.abc import Sequence

from ganeti_tx.cli.node.naming import full_names, of_group
from ganeti_tx.cli.options import NODE_GROUP, PRIORITY, SUBMITTING, Argument, Command, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

_RULE = "-" * 48


def restricted_command(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Have the nodes run the command, and show what it said on each; failure when it failed on one."""
    command, names = words[0], chosen(session, options, words[1:])
    op = opcode("OP_RESTRICTED_COMMAND", command=command, nodes=names, use_locking=unless(False, options.do_locking))
    status = ExitCode.SUCCESS
    for name, (succeeded, said) in zip(names, run_opcode(session, options, op), strict=True):
        session.print(_RULE)
        if not succeeded:
            session.print(f"Command '{command}' on node '{name}' failed: {said}")
            status = ExitCode.FAILURE
            continue
        for line in said.splitlines():
            session.print(f"{name}: {line}" if options.show_machine_names else line)
    return status


def chosen(session: Session, options: Parsed, names: Sequence[str]) -> list[str]:
    """The full names of nodes, or of those of a group. @raise OpPrereqError: not one of both is given, or it is not there."""
    if bool(names) == (options.nodegroup is not None):
        raise OpPrereqError("give names of nodes, or a node group (-g), but not both", ECode.INVAL)
    if names:
        return full_names(session, names)
    group, members = of_group(session, options.nodegroup)
    if not members:
        raise OpPrereqError(f"Node group {group} has no nodes", ECode.STATE)
    return members


RESTRICTED = Command(
    restricted_command,
    (Argument("unknown", 1, 1), Argument("node")),
    (
        switch("--sync", "do_locking", "let nothing else be done on the nodes meanwhile"),
        PRIORITY,
        *SUBMITTING,
        switch("-M --show-machine-names", "show_machine_names", "print the node's name before each line"),
        NODE_GROUP,
    ),
)
