"""The console of a domain: xl's own, on the instance's node."""

import sys
from collections.abc import Mapping
from typing import Any

from ganeti_tx.node.hypervisor.xen.layout import DomainLayout


def console_of(layout: DomainLayout, node_name: str) -> Mapping[str, Any]:
    """A command over SSH; it lets a domain run that was started paused, once somebody can see what it says."""
    command = [sys.executable, "-m", "ganeti_tx.xen_console", layout.name]
    return {"instance": layout.name, "kind": "ssh", "host": node_name, "user": "root", "command": command}
