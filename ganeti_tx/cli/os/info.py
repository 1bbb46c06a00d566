"""gnt-os info."""

from collections.abc import Iterator, Sequence
from typing import Any

from ganeti_tx.cli.options import PRIORITY, TREE, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

_FIELDS = ("name", "valid", "hidden", "blacklisted", "api_versions", "variants", "parameters", "hypervisors", "trusted")


def info(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """What is known of each OS definition; only the name of one that is not there."""
    wanted = set(names)
    op = opcode("OP_OS_DIAGNOSE", output_fields=list(_FIELDS), names=sorted(wanted) or None)
    rows = run_opcode(session, options, op)
    missing = sorted(wanted - {name for name, *_facts in rows})
    show(session, _lines(rows, missing), lambda: [_value(*row) for row in rows])
    for name in missing if session.document is not None else ():
        session.warn(f"OS {name} not found")
    return ExitCode.SUCCESS


def _value(*row: Any) -> dict[str, Any]:
    """One definition for programs; parameters with what they mean."""
    value = dict(zip(_FIELDS, row, strict=True))
    return {**value, "parameters": dict(value["parameters"] or ())}


def _lines(rows: Sequence[Sequence[Any]], missing: Sequence[str]) -> Iterator[str]:
    for name, *facts in rows:
        yield f"{name}:"
        yield from _fact_lines(*facts)
        yield ""
    for name in missing:
        yield f"{name}: "
        yield ""


def _fact_lines(
    valid: bool,
    hidden: bool,
    blacklisted: bool,
    api_versions: Sequence[int],
    variants: Sequence[str],
    parameters: Sequence[Sequence[str]],
    hypervisors: Sequence[str] | None,
    trusted: bool,
) -> Iterator[str]:
    """Of one that cannot be used there is nothing to say about its versions, variants and parameters."""
    for label, value in (("valid", valid), ("hidden", hidden), ("blacklisted", blacklisted)):
        yield f"  - {label}: {value}"
    if valid:
        yield from _several("API versions", api_versions)
        yield from _several("variants", variants)
        yield from _several("parameters", [f"{name}: {meaning}" for name, meaning in parameters])
        if hypervisors is not None:
            yield from _several("hypervisors", hypervisors)
    yield f"  - trusted: {trusted}"


def _several(label: str, values: Sequence[Any]) -> Iterator[str]:
    yield f"  - {label}:"
    for value in values:
        yield f"    - {value}"


INFO = Command(info, (Argument("os"),), (PRIORITY,), prints=TREE)
