"""gnt-cluster init: all options read and typed here, the work done by ganeti-bootstrap."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.init_options import OPTIONS
from ganeti_tx.cli.cluster.old_defaults import with_old_defaults
from ganeti_tx.cli.cluster.setting_options import values_of
from ganeti_tx.cli.options import ONE_HOST, Command
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.model.settings.services import IP_VERSIONS
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED


def init(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Set this node up as the first of a cluster."""
    return run_bootstrap(session, "init", init_document(names[0], options))


def init_document(cluster_name: str, options: Parsed) -> dict[str, Any]:
    """What ganeti-bootstrap reads; what was not given is left out, so that the cluster's defaults hold.

    @raise UsageError: an option that cannot be read.
    @raise TypeEnforcementError: a parameter that is not known, or has a wrong value.
    """
    document = {
        "cluster_name": cluster_name,
        "secondary_ip": options.secondary_ip,
        **values_of(DECLARED, Program.INIT, options),
        "primary_ip_version": _ip_version(options.primary_ip_version),
        "ipolicy": ipolicy.policy_of(options),
    }
    document = with_old_defaults(document, options.old_defaults, [])
    return {name: value for name, value in document.items() if value not in (None, {}, [])}


def _ip_version(text: str | int) -> int:
    if str(text) not in map(str, IP_VERSIONS.values()):
        raise UsageError(f"option --primary-ip-version: invalid version {text!r}: give 4 or 6")
    return int(text)


INIT = Command(init, ONE_HOST, OPTIONS)
