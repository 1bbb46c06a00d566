"""gnt-node power and health: what the out-of-band programs of nodes know and do."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from ganeti_tx.cli.listing import show_table
from ganeti_tx.cli.node.naming import full_name
from ganeti_tx.cli.options import (
    AUTO_PROMOTE,
    FORCE,
    MANY_NODES,
    NO_HEADERS,
    PRIORITY,
    SEPARATOR,
    SUBMITTING,
    TABLE,
    Argument,
    Command,
    Option,
    switch,
)
from ganeti_tx.cli.output import NORMAL, Column, absent
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm, confirm_many
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, run_job, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

OOB_TIMEOUT = Option(("--oob-timeout",), "oob_timeout", "seconds that the program may take for a node", "int", 60)
POWER_DELAY = Option(
    ("--power-delay",), "power_delay", "seconds between nodes that are powered on, fractions allowed", "float", 2.0
)
ON, OFF, CYCLE, STATUS = COMMANDS = ("on", "off", "cycle", "status")
TAKING = (OFF, CYCLE)
#: What the table says after a command that prints nothing, and what programs get then.
DONE = "invoked"
DONE_VALUES = {ON: "on", OFF: "off", CYCLE: "cycled"}
POWER = {True: "powered", False: "unpowered", None: "unknown"}
#: Power is recorded of nodes that have a program for it only.
_FIELDS = ("name", "master", "offline", "powered")
#: Of health, what is marked.
MARKED = ("WARNING", "CRITICAL")


@attrs.frozen
class PoweredNode:
    """A node as the operator is asked about it."""

    name: str
    is_master: bool
    is_offline: bool
    has_program: bool


def power(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Ask the power of nodes, or switch it; failure when there is one of which nothing came."""
    command, *names = words
    nodes = chosen(session, command, names)
    if command in TAKING and not options.force:
        _ask(session, command, nodes)
    ops = [
        *_marking(options, command, nodes),
        opcode(
            "OP_OOB_COMMAND",
            node_names=[node.name for node in nodes],
            command=f"power-{command}",
            timeout=unless(OOB_TIMEOUT.default, options.oob_timeout),
            ignore_status=unless(False, options.ignore_status),
            power_delay=unless(POWER_DELAY.default, options.power_delay),
        ),
    ]
    done = DONE_VALUES.get(command)
    rows = run_job(session, options, ops)[-1]
    return show(
        session, options, rows, lambda found: [DONE if done else POWER[found["powered"]]],
        "status" if done else "powered", lambda found: done or found["powered"],
    )  # fmt: skip


def chosen(session: Session, command: str, names: Sequence[str]) -> list[PoweredNode]:
    """The nodes, all without names. @raise OpPrereqError: one is not known, or what takes power from nodes names none."""
    if command in TAKING and not names:
        raise OpPrereqError(f"power {command} wants the names of nodes", ECode.INVAL)
    known = {node.name: node for node in _nodes(session)}
    return [known[name] for name in dict.fromkeys(full_name(given, known) for given in names)] or [*known.values()]


def _nodes(session: Session) -> Iterator[PoweredNode]:
    for name, master, offline, powered in session.client.query("node", _FIELDS, None)["data"]:
        yield PoweredNode(name[1], master[1], offline[1], powered[0] == NORMAL)


def _ask(session: Session, command: str, nodes: Sequence[PoweredNode]) -> None:
    """@raise Declined: power shall not be taken."""
    names = [node.name for node in nodes]
    running = running_on(session, names)
    confirm_many(session, names, "nodes", f"power {command}", "--force")
    if running:
        confirm(
            session, f"These instances run there and will be cut off: {', '.join(running)}.\nReally go on?", "--force"
        )


def running_on(session: Session, nodes: Sequence[str]) -> list[str]:
    """The instances that run on nodes, as far as those tell, and those that should run on nodes that do not."""
    fields = ["name", "pnode", "oper_state", "admin_state"]
    found = []
    for row in session.client.query("instance", fields, None)["data"]:
        (_, name), (_, node), (status, runs), (_, wanted) = row
        if node in nodes and (runs if status == NORMAL else wanted == "up"):
            found.append(name)
    return found


def _marking(options: Parsed, command: str, nodes: Sequence[PoweredNode]) -> list[OpCode]:
    """Those that are to be off are marked offline before, unless that is not minded, or nothing can switch them off."""
    if command != OFF or options.ignore_status:
        return []
    return [
        opcode(
            "OP_NODE_SET_PARAMS", node_name=node.name, offline=True, auto_promote=unless(False, options.auto_promote)
        )
        for node in nodes
        if node.has_program and not node.is_offline and not node.is_master
    ]


def show(
    session: Session,
    options: Parsed,
    rows: Sequence[Any],
    text: Callable[[Any], Sequence[str]],
    key: str,
    value: Callable[[Any], Any],
) -> int:
    """A table of what the opcode gives, and the exit status: failure if one node's cell has no value.

    @param text: of a cell, whose further lines have rows of their own, but for programs.
    @param key: what programs get the value by.
    """
    lines = [(name, text(found) if status == NORMAL else [absent(status)]) for [(_, name), (status, found)] in rows]
    if options.separator is not None:
        lines = [(name, [",".join(each)]) for name, each in lines]
    cells = [("" if number else name, line) for name, each in lines for number, line in enumerate(each or [""])]
    values = [(name, value(found) if status == NORMAL else None) for [(_, name), (status, found)] in rows]
    columns = [Column("Node", str), Column("Status", str, name="powered")]
    show_table(session, options, lambda _style: columns, cells, ("node", key), values)
    bad = any(status != NORMAL for [_, (status, _value)] in rows)
    return ExitCode.FAILURE if bad else ExitCode.SUCCESS


def health(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """What is told of the parts of nodes; the job warns of those that need somebody."""
    op = opcode(
        "OP_OOB_COMMAND",
        node_names=list(words),
        command="health",
        timeout=unless(OOB_TIMEOUT.default, options.oob_timeout),
    )
    return show(session, options, run_opcode(session, options, op), items, "health", dict)


def items(found: Sequence[tuple[str, str]]) -> Sequence[str]:
    """A line for each."""
    return [f"{item}={status}" for item, status in found]


POWERING = Command(
    power,
    (Argument("choice", 1, 1, choices=COMMANDS), Argument("node")),
    (
        *SUBMITTING,
        AUTO_PROMOTE,
        PRIORITY,
        switch("--ignore-status", "ignore_status", "switch nodes off without marking them offline"),
        FORCE,
        NO_HEADERS,
        SEPARATOR,
        OOB_TIMEOUT,
        POWER_DELAY,
    ),
    prints=TABLE,
)
HEALTH = Command(health, MANY_NODES, (NO_HEADERS, SEPARATOR, PRIORITY, OOB_TIMEOUT), prints=TABLE)
