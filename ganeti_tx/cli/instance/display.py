"""Where the display of an instance is, as gnt-instance info has it: by what is configured, whether it runs or not."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.hypervisor import VNC_BASE_PORT
from ganeti_tx.model.ip_family import is_every_address


def display_lines(instance: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The line, if it has VNC; of other consoles Ganeti has none, nor of one that has no port yet."""
    bind = str((instance.get("hv_actual") or {}).get("vnc_bind_address") or "")
    node, port = instance["pnode"], instance.get("network_port")
    if bind.startswith("/"):
        yield "console connection", f"vnc to {node}:{bind}"
    elif bind and port is not None:
        where = host_port(node, port) if is_every_address(bind) else f"{host_port(bind, port)} (node {node})"
        yield "console connection", f"vnc to {where} (display {port - VNC_BASE_PORT})"
