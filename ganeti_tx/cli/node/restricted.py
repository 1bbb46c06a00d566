"""gnt-node restricted-command."""

from collections.abc import Iterator, Sequence

from ganeti_tx.cli.node.naming import full_names, of_group
from ganeti_tx.cli.options import NODE_GROUP, PRIORITY, SUBMITTING, TABLE, Argument, Command, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

_RULE = "-" * 48
#: For programs.
KEYS = ("node", "succeeded", "output")


def restricted_command(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Have the nodes run the command, and show what it said on each; failure when it failed on one."""
    command, names = words[0], chosen(session, options, words[1:])
    op = opcode("OP_RESTRICTED_COMMAND", command=command, nodes=names, use_locking=unless(False, options.do_locking))
    rows = [(name, *answer) for name, answer in zip(names, run_opcode(session, options, op), strict=True)]
    lines = (line for row in rows for line in _lines(command, *row, named=options.show_machine_names))
    show(session, lines, lambda: [dict(zip(KEYS, row, strict=True)) for row in rows], KEYS)
    return ExitCode.SUCCESS if all(succeeded for _name, succeeded, _said in rows) else ExitCode.FAILURE


def _lines(command: str, name: str, succeeded: bool, said: str, *, named: bool) -> Iterator[str]:
    yield _RULE
    if not succeeded:
        yield f"Command '{command}' on node '{name}' failed: {said}"
        return
    yield from (f"{name}: {line}" if named else line for line in said.splitlines())


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
    prints=TABLE,
)
