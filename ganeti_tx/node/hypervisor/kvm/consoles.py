"""Which console an instance has, and how to get there."""

import sys
from collections.abc import Mapping
from typing import Any

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout

#: Of VNC's display number 0.
VNC_BASE_PORT = 5900
EVERYWHERE = ("0.0.0.0", "::")


def console_of(spec: InstanceSpec, params: KvmParams, layout: InstanceLayout, node_name: str) -> Mapping[str, Any]:
    """The serial console before VNC before SPICE. @raise HypervisorError: VNC or SPICE without a port."""
    if params.serial_console:
        command = [sys.executable, "-m", "ganeti_tx.console", str(layout.serial)]
        return {"instance": spec.name, "kind": "ssh", "host": node_name, "user": "root", "command": command}
    if params.vnc_bind_address and not params.vnc_bind_address.startswith("/"):
        return _remote(spec, "vnc", params.vnc_bind_address, node_name)
    if params.spice_bind:
        return _remote(spec, "spice", params.spice_bind, node_name)
    text = (
        f"No serial shell for instance {spec.name}: it has neither serial_console nor vnc_bind_address nor spice_bind"
    )
    return {"instance": spec.name, "kind": "msg", "message": text}


def _remote(spec: InstanceSpec, kind: str, bind: str, node_name: str) -> Mapping[str, Any]:
    if spec.network_port is None:
        raise HypervisorError(f"instance {spec.name} has no network port for {kind.upper()}")
    host = node_name if bind in EVERYWHERE else bind
    found: dict[str, Any] = {"instance": spec.name, "kind": kind, "host": host, "port": spec.network_port}
    if kind == "vnc":
        found["display"] = spec.network_port - VNC_BASE_PORT
    return found
