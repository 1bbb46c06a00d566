"""gnt-instance console."""

import shlex
from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.options import ONE_INSTANCE, PRIORITY, TREE, Command, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.remote import DEFAULT_PORT, remote_argv
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode, OpExecError
from ganeti_tx.model.host_port import host_port

Console = dict[str, Any]


def console(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Connect the terminal to the instance's console, or say how to reach it."""
    found = run_opcode(session, options, opcode("OP_INSTANCE_CONSOLE", instance_name=names[0]))
    kind = found.get("kind")
    if kind == "ssh":
        return _connect(session, found, only_shown=options.show_command)
    show(session, [_DIRECTIONS.get(kind, _unknown)(found)], lambda: found)
    return ExitCode.SUCCESS


def _connect(session: Session, found: Console, *, only_shown: bool) -> int:
    command = _words(found["command"])
    argv = command if found["host"] == session.host_name() else _remote_argv(session, found, command)
    if only_shown:
        show(session, [shlex.join(argv)], lambda: {**found, "argv": argv})
        return ExitCode.SUCCESS
    if session.run(argv, None) != 0:
        raise OpExecError(
            f"The connection to the console of instance {found['instance']} failed; see 'gnt-cluster verify'"
        )
    return ExitCode.SUCCESS


def _words(command: str | Sequence[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else list(command)


def _remote_argv(session: Session, found: Console, command: Sequence[str]) -> list[str]:
    """The way to another node, with a terminal there."""
    node = found["host"]
    port = _ssh_port(session, node)
    return remote_argv(session, node, command, ["-t"], port, user=found.get("user") or "root")


def _ssh_port(session: Session, node: str) -> int:
    rows = session.client.query("node", ["ndp/ssh_port"], ["==", "name", node])["data"]
    return next((value for ((_status, value),) in rows if value), DEFAULT_PORT)


def _vnc(found: Console) -> str:
    where = host_port(found["host"], found["port"])
    return (
        f"Instance {found['instance']} has VNC listening on {where} (display {found['display']}), URL <vnc://{where}/>"
    )


def _spice(found: Console) -> str:
    return f"Instance {found['instance']} has SPICE listening on {host_port(found['host'], found['port'])}"


def _message(found: Console) -> str:
    return str(found["message"])


def _unknown(found: Console) -> str:
    raise OpExecError(f"The console of instance {found.get('instance')} is of an unknown kind: {found.get('kind')!r}")


_DIRECTIONS = {"vnc": _vnc, "spice": _spice, "msg": _message}

CONSOLE = Command(
    console,
    ONE_INSTANCE,
    (switch("--show-cmd", "show_command", "print the command that connects, do not run it"), PRIORITY),
    prints=TREE,
)
