"""gnt-cluster init: all options read and typed here, the work done by ganeti-bootstrap."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.bootstrap import run_bootstrap
from ganeti_tx.cli.cluster import ipolicy
from ganeti_tx.cli.cluster.init_options import OPTIONS
from ganeti_tx.cli.cluster.setting_options import values_of
from ganeti_tx.cli.options import ONE_HOST, Command
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.model.settings.services import IP_VERSIONS
from ganeti_tx.model.settings.setting import Program
from ganeti_tx.model.settings.table import DECLARED

#: design-2.0, cluster defaults: --defaults KEY=VALUE,...
_OLD_DEFAULTS = ("bridge", "hypervisor")


def init(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Set this node up as the first of a cluster."""
    return run_bootstrap(session, "init", init_document(names[0], options))


def init_document(cluster_name: str, options: Parsed) -> dict[str, Any]:
    """What ganeti-bootstrap reads; what was not given is left out, so that the cluster's defaults hold.

    @raise UsageError: an option that cannot be read.
    @raise TypeEnforcementError: a parameter that is not known, or has a wrong value.
    """
    old = _old_defaults(options.old_defaults or {})
    document = {
        "cluster_name": cluster_name,
        "secondary_ip": options.secondary_ip,
        **values_of(DECLARED, Program.INIT, options),
        "primary_ip_version": _ip_version(options.primary_ip_version),
        "ipolicy": ipolicy.policy_of(options),
    }
    if "hypervisor" in old:
        document["enabled_hypervisors"] = _with_first(old["hypervisor"], document["enabled_hypervisors"])
    if "bridge" in old:
        document["nicparams"] = {"mode": "bridged", "link": old["bridge"], **(document["nicparams"] or {})}
    return {name: value for name, value in document.items() if value not in (None, {}, [])}


def _with_first(first: str, names: list[str] | None) -> list[str]:
    """The first one is the default for new instances, so an old default goes there."""
    return [first, *(name for name in names or () if name != first)]


def _ip_version(text: str | int) -> int:
    if str(text) not in map(str, IP_VERSIONS.values()):
        raise UsageError(f"option --primary-ip-version: invalid version {text!r}: give 4 or 6")
    return int(text)


def _old_defaults(given: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in given:
        if key not in _OLD_DEFAULTS:
            raise UsageError(
                f"option --defaults: {key!r} has no default any more; known are {', '.join(_OLD_DEFAULTS)}"
            )
    return given


INIT = Command(init, ONE_HOST, OPTIONS)
