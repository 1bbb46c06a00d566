"""gnt-cluster show-ispecs-cmd."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.options import TABLE, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show as present
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode


def show(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """The command that makes a cluster with the same bounds for instances."""
    cluster = session.client.query_cluster_info()
    command = " ".join(["gnt-cluster init", *spec_options(cluster["ipolicy"]), cluster["name"]])
    present(session, [command], lambda: {"command": command}, ["command"])
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


SHOW = Command(show, prints=TABLE)
