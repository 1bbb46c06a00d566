"""gnt-cluster modify and redist-conf."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.modify_options import OPTIONS
from ganeti_tx.cli.cluster.old_defaults import with_old_defaults
from ganeti_tx.cli.cluster.setting_options import values_of
from ganeti_tx.cli.options import DRY_RUN, PRIORITY, SUBMITTING, Command, switch
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.submitted import follow_submitted
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change settings of the cluster."""
    given = {name: value for name, value in _settings(session, options).items() if value is not None}
    if not given:
        raise UsageError("nothing to change: give at least one of the options, such as --candidate-pool-size=5")
    op = opcode("OP_CLUSTER_SET_PARAMS", **given, force=unless(False, options.force))
    result = run_opcode(session, options, op)
    if result is None:
        return ExitCode.SUCCESS
    _results, failed = follow_submitted(session, result["jobs"])
    return ExitCode.FAILURE if failed else ExitCode.SUCCESS


def _settings(session: Session, options: Parsed) -> dict[str, Any]:
    """The opcode's parameters with those of the old spelling, which may need to know what is enabled."""
    given, old = settings_of(options), options.old_defaults or {}
    asks = "hypervisor" in old and not given.get("enabled_hypervisors")
    return with_old_defaults(given, old, session.client.query_cluster_info()["enabled_hypervisors"] if asks else [])


def settings_of(options: Parsed) -> dict[str, Any]:
    """The opcode's parameters; None is what was not given.

    @raise UsageError: an option that cannot be read. @raise TypeEnforcementError: a parameter that does not fit.
    """
    return {**values_of(DECLARED, Program.MODIFY, options), "ipolicy": ipolicy.changes_of(options) or None}


def redistribute(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Send the configuration and the key files to all nodes once more."""
    run_opcode(session, options, opcode("OP_CLUSTER_REDIST_CONF"), to_drained=options.yes_do_it)
    return ExitCode.SUCCESS


YES = switch("--yes-do-it", "yes_do_it", "do it also while the queue is drained")
MODIFY = Command(modify, (), OPTIONS)
REDIST_CONF = Command(redistribute, (), (*SUBMITTING, DRY_RUN, PRIORITY, YES))
