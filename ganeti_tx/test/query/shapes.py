"""What the values of fields are like whose kind is "other", as Ganeti 3.0 printed them; parameters of hypervisors are text."""

from collections.abc import Mapping
from typing import Any, Literal

Texts = list[str]
#: One for each disk or NIC; None where it has none.
Optionals = list[str | None]
Params = dict[str, str | int | float | bool]
Moment = tuple[int, int]
Moments = list[Moment | None]
Mode = Literal["shared", "exclusive"]
#: [name, description].
Parameter = tuple[str, str]
#: Who gave which reason, and when in nanoseconds.
Reason = tuple[str, str, int]
#: [path, valid, what is wrong, variants, parameters, versions, trusted].
OsFound = tuple[str, bool, str, Texts, list[Parameter], list[int], bool]
ProviderFound = tuple[str, bool, str, list[Parameter]]
Step = tuple[int, Moment, str, Any]

SHAPES: Mapping[str, Mapping[str, Any]] = {
    "export": {},
    "filter": {
        "action": str | tuple[str, int],
        "predicates": list[tuple[str, list[Any]]],
        "priority": int,
        "reason_trail": list[Reason],
        "uuid": str,
        "watermark": int,
    },
    "group": {
        "custom_diskparams": dict[str, Params],
        "custom_ipolicy": dict[str, Any],
        "custom_ndparams": Params,
        "diskparams": dict[str, Params],
        "ipolicy": dict[str, Any],
        "ndp/oob_program": str,
        "ndp/ovs_link": str,
        "ndp/ovs_name": str,
        "ndparams": Params,
        "node_list": Texts,
        "pinst_list": Texts,
        "tags": Texts,
    },
    "instance": {
        "beparams": Params,
        "console": dict[str, str | int],
        "custom_beparams": Params,
        "custom_hvparams": Params,
        "custom_nicparams": list[dict[str, str]],
        "custom_osparams": dict[str, str],
        "disk.names": Optionals,
        "disk.sizes": list[int],
        "disk.spindles": list[int | None],
        "disk.uuids": Texts,
        "hvparams": Params,
        "network_port": int,
        "nic.bridges": Optionals,
        "nic.ips": Optionals,
        "nic.links": Texts,
        "nic.macs": Texts,
        "nic.modes": Texts,
        "nic.names": Optionals,
        "nic.networks": Optionals,
        "nic.networks.names": Optionals,
        "nic.uuids": Texts,
        "nic.vlans": Texts,
        "osparams": dict[str, str],
        "snodes": Texts,
        "snodes.group": Texts,
        "snodes.group.uuid": Texts,
        "tags": Texts,
    },
    "job": {
        "end_ts": Moment,
        "opend": Moments,
        "opexec": Moments,
        "oplog": list[list[Step]],
        "oppriority": list[int],
        "opresult": list[Any],
        "ops": list[dict[str, Any]],
        "opstart": Moments,
        "opstatus": Texts,
        "received_ts": Moment,
        "start_ts": Moment,
        "summary": Texts,
    },
    "lock": {"mode": Mode, "name": str, "owner": Texts, "pending": list[tuple[Mode, Texts]]},
    "network": {
        "gateway": str,
        "gateway6": str,
        "group_list": list[tuple[str, str, str, str]],
        "inst_list": Texts,
        "mac_prefix": str,
        "network6": str,
        "tags": Texts,
    },
    "node": {
        "custom_ndparams": Params,
        "disk_state": dict[str, Any],
        "hv_state": dict[str, Any],
        "ndp/oob_program": str,
        "ndp/ovs_link": str,
        "ndp/ovs_name": str,
        "ndparams": Params,
        "pinst_list": Texts,
        "sinst_list": Texts,
        "tags": Texts,
    },
    "cluster": {"architecture": tuple[str, str], "tags": Texts},
    "extstorage": {
        "node_status": dict[str, list[ProviderFound]],
        "nodegroup_status": dict[str, bool],
        "parameters": list[Parameter],
    },
    "os": {
        "api_versions": list[int],
        "node_status": dict[str, list[OsFound]],
        "os_hvp": dict[str, Params],
        "osparams": dict[str, str],
        "parameters": list[Parameter],
        "variants": Texts,
    },
}
#: What a value of each other kind is like.
KINDS: Mapping[str, Any] = {"bool": bool, "float": float, "number": int, "text": str, "timestamp": float, "unit": int}


def shape_of(what: str, name: str, kind: str) -> Any:
    """The type of a field's values. @raise KeyError: nobody has said what it is like."""
    if kind != "other":
        return KINDS[kind]
    return str if name.startswith("hv/") else SHAPES[what][name]
