"""gnt-cluster command and copyfile: the same on many nodes."""

import os
import shlex
from collections.abc import Iterator, Sequence

import attrs

from ganeti_tx.cli.node.naming import full_name, of_group
from ganeti_tx.cli.options import NODE_GROUP, TABLE, Argument, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.remote import DEFAULT_PORT, remote_argv
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

_FIELDS = ["name", "group", "offline", "master", "ndp/ssh_port", "sip"]
_RULE = "-" * 48
#: Nobody is there to type a password; seconds until a node counts as gone.
_UNATTENDED = ("-oBatchMode=yes", "-oConnectTimeout=30")
#: Takes a file on standard input; arguments: its path, its mode, its time. All of it is there, or what was before.
TAKE = """\
umask 077
new=$(mktemp "$1.XXXXXXXX") || exit 1
cat > "$new" && chmod "$2" "$new" && touch -d "@$3" "$new" && mv -f "$new" "$1" && exit 0
rm -f "$new"
exit 1
"""


@attrs.frozen
class Target:
    """A node that a command goes to."""

    name: str
    group: str
    offline: bool
    is_master: bool
    port: int
    secondary_ip: str


def chosen(session: Session, options: Parsed) -> list[Target]:
    """The nodes that the options name, all without; the master last, those that are offline not at all, which is told.

    @raise OpPrereqError: a node is named that there is not.
    """
    rows = session.client.query("node", _FIELDS, None)["data"]
    values = [[value for _status, value in row] for row in rows]
    nodes = [
        Target(name, group, offline, is_master, port or DEFAULT_PORT, sip)
        for name, group, offline, is_master, port, sip in values
    ]
    if options.nodegroup is not None:
        group, _members = of_group(session, options.nodegroup)
        nodes = [node for node in nodes if node.group == group]
    if options.nodes:
        known = {node.name: node for node in nodes}
        nodes = [known[name] for name in dict.fromkeys(full_name(given, known) for given in options.nodes)]
    if offline := [node.name for node in nodes if node.offline]:
        session.warn(f"Note: skipping offline node(s): {', '.join(offline)}")
    return sorted((node for node in nodes if not node.offline), key=lambda node: node.is_master)


def command(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Run a shell command on each node, one after the other, and show what it wrote and its exit status."""
    text, rows = " ".join(words), []
    for node in chosen(session, options):
        argv = ["sh", "-c", text]
        if node.name != session.host_name():
            argv = remote_argv(session, node.name, argv, _UNATTENDED, node.port)
        status, output = session.capture(argv)
        if status == 0 and options.failure_only:
            continue
        rows.append({"node": node.name, "status": status, "output": output})
        for line in _said(node.name, status, output, named=options.show_machine_names):
            session.print(line)
    if session.document is not None:
        session.emit(rows, ["node", "status", "output"])
    return ExitCode.SUCCESS


def _said(name: str, status: int, output: str, *, named: bool) -> Iterator[str]:
    yield _RULE
    if named:
        yield from (f"{name}: {line}" for line in output.splitlines())
    else:
        yield f"node: {name}"
        yield output
    yield f"return code = {status}"


def copyfile(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Bring a file of this node to the others, to the same place, with its mode and time; failure if one has it not."""
    path = os.path.abspath(words[0])
    mode, changed = _facts_of(session, path)
    failed = False
    for node in chosen(session, options):
        if node.name == session.host_name():
            continue
        address = node.secondary_ip if options.use_replication_network else None
        take = ["sh", "-c", TAKE, "copyfile", path, mode, changed]
        argv = remote_argv(session, node.name, take, _UNATTENDED, node.port, address=address)
        if session.run(["sh", "-c", f'exec "$@" < {shlex.quote(path)}', "copyfile", *argv], None) != 0:
            session.warn(f"Copy of file {path} to node {node.name}:{node.port} failed")
            failed = True
    return ExitCode.FAILURE if failed else ExitCode.SUCCESS


def _facts_of(session: Session, path: str) -> tuple[str, str]:
    """Mode and time. @raise OpPrereqError: it is no file."""
    status, facts = session.capture(["stat", "--dereference", "--format=%F|%a|%Y", "--", path])
    if status != 0:
        raise OpPrereqError(f"No such filename '{path}'", ECode.INVAL)
    kind, mode, changed = facts.strip().split("|")
    if not kind.startswith("regular"):
        raise OpPrereqError(f"'{path}' is no file but a {kind}", ECode.INVAL)
    return mode, changed


NODES = Option(("-n", "--node"), "nodes", "only this node; may be repeated", "string", [], "append", metavar="<node>")
COMMAND = Command(
    command,
    (Argument("command", 1),),
    (
        NODES,
        NODE_GROUP,
        switch("-M --show-machine-names", "show_machine_names", "print the node's name before each line"),
        switch("--failure-only", "failure_only", "show only nodes on which the command failed"),
    ),
    prints=TABLE,
)
COPYFILE = Command(
    copyfile,
    (Argument("file", 1, 1),),
    (
        NODES,
        switch("--use-replication-network", "use_replication_network", "go over the network for replication"),
        NODE_GROUP,
    ),
)
