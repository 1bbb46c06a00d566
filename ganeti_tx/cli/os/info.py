"""gnt-os info."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.options import PRIORITY, Argument, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

_FIELDS = ("name", "valid", "hidden", "blacklisted", "api_versions", "variants", "parameters", "hypervisors", "trusted")


def info(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """What is known of each OS definition; only the name of one that is not there."""
    wanted = set(names)
    op = opcode("OP_OS_DIAGNOSE", output_fields=list(_FIELDS), names=sorted(wanted) or None)
    for name, *facts in run_opcode(session, options, op):
        wanted.discard(name)
        session.print(f"{name}:")
        _print_facts(session, *facts)
        session.print()
    for name in sorted(wanted):
        session.print(f"{name}: ")
        session.print()
    return ExitCode.SUCCESS


def _print_facts(
    session: Session,
    valid: bool,
    hidden: bool,
    blacklisted: bool,
    api_versions: Sequence[int],
    variants: Sequence[str],
    parameters: Sequence[Sequence[str]],
    hypervisors: Sequence[str] | None,
    trusted: bool,
) -> None:
    """Of one that cannot be used there is nothing to say about its versions, variants and parameters."""
    for label, value in (("valid", valid), ("hidden", hidden), ("blacklisted", blacklisted)):
        session.print(f"  - {label}: {value}")
    if valid:
        _print_several(session, "API versions", api_versions)
        _print_several(session, "variants", variants)
        _print_several(session, "parameters", [f"{name}: {meaning}" for name, meaning in parameters])
        if hypervisors is not None:
            _print_several(session, "hypervisors", hypervisors)
    session.print(f"  - trusted: {trusted}")


def _print_several(session: Session, label: str, values: Sequence[Any]) -> None:
    session.print(f"  - {label}:")
    for value in values:
        session.print(f"    - {value}")


INFO = Command(info, (Argument("os"),), (PRIORITY,))
