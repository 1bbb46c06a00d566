"""gnt-os list and diagnose."""

from collections.abc import Iterator, Sequence
from typing import Any

from ganeti_tx.cli.options import NO_HEADERS, PRIORITY, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

_DIAGNOSED = ("name", "valid", "variants", "node_status", "hidden", "blacklisted")
#: Versions of the OS interface from which on definitions have these (Ganeti 3.0 OS interface table).
API_WITH_VARIANTS, API_WITH_PARAMETERS = 15, 20
#: What each node found, as OP_OS_DIAGNOSE answers: path, valid, message, variants, parameters, API versions, trusted.
NodeStatus = dict[str, list[list[Any]]]


def list_oses(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The names that gnt-instance add takes, one for each variant."""
    rows = run_opcode(session, options, opcode("OP_OS_DIAGNOSE", output_fields=["name", "variants"]))
    names = [full for name, variants in rows for full in ([f"{name}+{each}" for each in variants] or [name])]
    if not options.no_headers:
        session.print("Name".ljust(max(map(len, names), default=0)))
    for name in names:
        session.print(name)
    return ExitCode.SUCCESS


def diagnose(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Each OS definition and what is wrong with it on which node; failure when one is not valid."""
    rows = run_opcode(session, options, opcode("OP_OS_DIAGNOSE", output_fields=list(_DIAGNOSED)))
    all_valid = True
    for name, valid, variants, node_status, hidden, blacklisted in rows:
        marks = [word for word, set in (("hidden", hidden), ("blacklisted", blacklisted)) if set]
        session.print(f"OS: {name} [global status: {', '.join([_state(valid, node_status), *marks])}]")
        if variants:
            session.print(f"  Variants: [{', '.join(variants)}]")
        for line in _node_lines(node_status):
            session.print(line)
        session.print()
        all_valid = all_valid and valid
    return ExitCode.SUCCESS if all_valid else ExitCode.FAILURE


def _state(valid: bool, node_status: NodeStatus) -> str:
    """Of all nodes together; only the first definition found on a node counts."""
    if valid:
        return "valid"
    return "partial valid" if any(found and found[0][1] for found in node_status.values()) else "invalid"


def _node_lines(node_status: NodeStatus) -> Iterator[str]:
    """The first definition found on a node counts; those further down the search path are hidden by it."""
    for node, found in sorted(node_status.items()):
        if not found:
            yield f"  Node: {node}, status: OS not found"
            continue
        first, *hidden = found
        yield f"  Node: {node}, status: {_finding(*first)}"
        for path, *_rest in hidden:
            yield f"    hidden by it: {path}"


def _finding(
    path: str,
    valid: bool,
    message: str,
    variants: Sequence[str],
    parameters: Sequence[Sequence[str]],
    versions: Sequence[int],
    trusted: bool,
) -> str:
    """What one node found; variants and parameters only where the definition's version of the API knows them."""
    newest = max(versions, default=0)
    marks = [
        _several("API versions", versions, "no API versions declared"),
        *([_several("variants", variants)] if newest >= API_WITH_VARIANTS else []),
        *([_several("parameters", [name for name, *_help in parameters])] if newest >= API_WITH_PARAMETERS else []),
        "[trusted]" if trusted else "[untrusted]",
    ]
    return f"{'valid' if valid else f'invalid - {message}'} (path: {path}) {' '.join(marks)}"


def _several(label: str, values: Sequence[object], none: str = "") -> str:
    return f"[{label}: {', '.join(map(str, values))}]" if values else f"[{none or f'no {label}'}]"


LIST = Command(list_oses, (), (NO_HEADERS, PRIORITY))
DIAGNOSE = Command(diagnose, (), (PRIORITY,))
