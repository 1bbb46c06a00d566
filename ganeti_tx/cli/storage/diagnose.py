"""gnt-storage diagnose."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.options import PRIORITY, TREE, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

#: What a node found, as OP_EXT_STORAGE_DIAGNOSE answers: path, valid, message, parameters.
Finding = Sequence[Any]
_FOUND = ("path", "valid", "message", "parameters")


def diagnose(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Each provider and what is wrong with it on which node; failure when there is none, not when one is not valid."""
    fields = ["name", "node_status", "nodegroup_status"]
    rows = run_opcode(session, options, opcode("OP_EXT_STORAGE_DIAGNOSE", output_fields=fields))
    if not rows:
        session.warn("Can't get the list of ExtStorage providers")
        return ExitCode.FAILURE
    show(session, _lines(rows), lambda: [_value(*row) for row in rows])
    return ExitCode.SUCCESS


def _lines(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for name, nodes, groups in rows:
        yield f"Provider: {name}"
        yield "---"
        yield from node_lines(nodes)
        yield "  --"
        yield from (f"  For nodegroup: {group} --> {_valid(groups[group])}" for group in sorted(groups))
        yield ""


def _valid(is_valid: bool) -> str:
    return "valid" if is_valid else "invalid"


def _value(name: str, nodes: Mapping[str, Sequence[Finding]], groups: Mapping[str, bool]) -> dict[str, Any]:
    """One provider for programs: what each node found, the first of which counts."""
    found = {
        node: [dict(zip(_FOUND, finding, strict=True)) for finding in findings] for node, findings in nodes.items()
    }
    return {"name": name, "status": state_of(nodes), "nodes": found, "node_groups": groups}


def state_of(nodes: Mapping[str, Sequence[Finding]]) -> str:
    """Of all nodes together, by what counts on each."""
    good = [bool(found) and found[0][1] for found in nodes.values()]
    return "valid" if all(good) else "partial valid" if any(good) else "invalid"


def node_lines(nodes: Mapping[str, Sequence[Finding]]) -> Iterator[str]:
    """The first provider of a name that is found on a node counts; those further down the search path are hidden by it."""
    for node in sorted(nodes):
        if not nodes[node]:
            yield f"  Node: {node}, status: ExtStorage provider not found"
            continue
        (path, valid, message, parameters), *hidden = nodes[node]
        names = ", ".join(name for name, *_help in parameters)
        marks = f"[parameters: {names}]" if names else "[no parameters]"
        yield f"  Node: {node}, status: {'valid' if valid else f'invalid - {message}'} (path: {path}) {marks}"
        for other, *_rest in hidden:
            yield f"    hidden by it: {other}"


DIAGNOSE = Command(diagnose, (), (PRIORITY,), prints=TREE)
