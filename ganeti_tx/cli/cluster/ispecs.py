"""gnt-cluster show-ispecs-cmd."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.options import Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode


def show(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The command that makes a cluster with the same bounds for instances."""
    cluster = session.client.query_cluster_info()
    session.print(" ".join(["gnt-cluster init", *spec_options(cluster["ipolicy"]), cluster["name"]]))
    return ExitCode.SUCCESS


def spec_options(policy: Mapping[str, Any]) -> list[str]:
    """The specifications of a policy as the options take them."""
    found = []
    if std := policy.get("std"):
        found.append(f"--ipolicy-std-specs {_values(std)}")
    if pairs := policy.get("minmax"):
        bounds = "//".join("/".join(f"{bound}:{_values(pair[bound])}" for bound in ("min", "max")) for pair in pairs)
        found.append(f"--ipolicy-bounds-specs {bounds}")
    return found


def _values(specs: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(specs.items()))


SHOW = Command(show)
