"""gnt-storage info."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.options import PRIORITY, TREE, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode


def info(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """What is known of each provider; only the name of one that is not there. Failure when there is none at all."""
    fields = ["name", "nodegroup_status", "parameters"]
    rows = run_opcode(session, options, opcode("OP_EXT_STORAGE_DIAGNOSE", output_fields=fields))
    if not rows:
        session.warn("Can't get the ExtStorage providers list")
        return ExitCode.FAILURE
    shown = [row for row in rows if not names or row[0] in names]
    missing = sorted(set(names) - {name for name, *_rest in rows})
    show(session, _lines(shown, missing), lambda: [_value(*row) for row in shown])
    for name in missing if session.document is not None else ():
        session.warn(f"{name}: Not Found")
    return ExitCode.SUCCESS


def _lines(rows: Sequence[Sequence[Any]], missing: Sequence[str]) -> Iterator[str]:
    for name, groups, parameters in rows:
        yield f"{name}:"
        yield from facts(groups, parameters)
        yield ""
    for name in missing:
        yield f"{name}: Not Found"
        yield ""


def facts(groups: Mapping[str, bool], parameters: Sequence[Sequence[str]]) -> Iterator[str]:
    """One that can be used nowhere has no parameters to tell of."""
    valid = sorted(group for group in groups if groups[group])
    if not valid:
        yield "  - Invalid for all nodegroups"
        return
    yield "  - Valid for nodegroups:"
    yield from (f"      {group}" for group in valid)
    yield "  - Supported parameters:"
    yield from (f"      {parameter}: {meaning}" for parameter, meaning in parameters)


def _value(name: str, groups: Mapping[str, bool], parameters: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """One provider for programs: whether it can be used in each group, and its parameters with what they mean."""
    return {"name": name, "node_groups": groups, "parameters": dict(parameters)}


INFO = Command(info, (Argument("os"),), (PRIORITY,), prints=TREE)
