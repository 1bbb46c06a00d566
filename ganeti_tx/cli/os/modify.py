"""gnt-os modify: what the cluster sets for instances of an OS, and who sees the OS."""

from collections.abc import Sequence

from ganeti_tx.cli import declared_parameters
from ganeti_tx.cli.options import DRY_RUN, PRIORITY, SUBMITTING, Argument, Command, Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.cli.typed_options import by_ident
from ganeti_tx.errors import ExitCode


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change settings of the cluster that are about one OS."""
    (name,) = names
    hvparams = by_ident("-H", options.hvparams, declared_parameters.HYPERVISOR, "hypervisor")
    given = {
        "os_hvp": {name: hvparams} if any(hvparams.values()) else None,
        "osparams": {name: options.osparams} if options.osparams else None,
        "osparams_private_cluster": {name: options.osparams_private} if options.osparams_private else None,
        "hidden_os": _listed(name, options.hidden),
        "blacklisted_os": _listed(name, options.blacklisted),
    }
    if not any(given.values()):
        raise UsageError(
            "nothing to change: give OS parameters (-O), hypervisor parameters (-H), --hidden or --blacklisted"
        )
    run_opcode(session, options, opcode("OP_CLUSTER_SET_PARAMS", **given))
    return ExitCode.SUCCESS


def _listed(name: str, wanted: bool | None) -> list[list[str]] | None:
    """The change of a list of names that has it in the list, or not."""
    return None if wanted is None else [["add" if wanted else "remove", name]]


MODIFY = Command(
    modify,
    (Argument("os", 1, 1),),
    (
        Option(
            ("-H", "--hypervisor-parameters"), "hvparams",
            "hypervisor parameters of instances with this OS, as NAME:KEY=VALUE,...", "identkeyval", [], "append",
        ),
        Option(("-O", "--os-parameters"), "osparams", "parameters of the OS definition", "keyval", {}),
        Option(
            ("--os-parameters-private",), "osparams_private", "OS parameters kept but not shown", "keyprivateval", {}
        ),
        DRY_RUN,
        PRIORITY,
        Option(("--hidden",), "hidden", "whether gnt-os list leaves the OS out", "bool", metavar="yes|no"),
        Option(
            ("--blacklisted",), "blacklisted", "whether new instances may not be installed with it", "bool",
            metavar="yes|no",
        ),
        *SUBMITTING,
    ),
)  # fmt: skip
