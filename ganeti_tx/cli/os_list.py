"""gnt-os list and diagnose."""

from collections.abc import Iterator, Sequence
from typing import Any

from ganeti_tx.cli.options import NO_HEADERS, PRIORITY, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

_DIAGNOSED = ("name", "valid", "variants", "node_status", "hidden", "blacklisted")
NodeStatus = dict[str, list[list[Any]]]


def list_oses(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The names that gnt-instance add takes, one for each variant."""
    rows = run_opcode(session, options, opcode("OP_OS_DIAGNOSE", output_fields=["name", "variants"]))
    if not options.no_headers:
        session.print("Name")
    for name, variants in rows:
        for full_name in [f"{name}+{variant}" for variant in variants] or [name]:
            session.print(full_name)
    return ExitCode.SUCCESS


def diagnose(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Each OS definition and what is wrong with it on which node; failure when one is not valid."""
    rows = run_opcode(session, options, opcode("OP_OS_DIAGNOSE", output_fields=list(_DIAGNOSED)))
    all_valid = True
    for name, valid, variants, node_status, hidden, blacklisted in rows:
        marks = [word for word, set in (("hidden", hidden), ("blacklisted", blacklisted)) if set]
        state = ", ".join(["valid" if valid else "invalid", *marks])
        session.print(f"OS: {name} [global status: {state}]")
        if variants:
            session.print(f"  Variants: [{', '.join(variants)}]")
        for line in _node_lines(node_status):
            session.print(line)
        session.print()
        all_valid = all_valid and valid
    return ExitCode.SUCCESS if all_valid else ExitCode.FAILURE


def _node_lines(node_status: NodeStatus) -> Iterator[str]:
    """The first definition found on a node counts; those further down the search path are hidden by it."""
    for node, found in sorted(node_status.items()):
        if not found:
            yield f"  Node: {node}, status: MISSING"
            continue
        (path, valid, message, *_more), *hidden = found
        yield f"  Node: {node}, status: {'VALID' if valid else 'INVALID - ' + message} (path: {path})"
        for path, *_rest in hidden:
            yield f"    hidden by it: {path}"


LIST = Command(list_oses, (), (NO_HEADERS, PRIORITY))
DIAGNOSE = Command(diagnose, (), (PRIORITY,))
