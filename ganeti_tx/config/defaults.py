"""What a new cluster starts with, and what objects of older configurations read as where they lack a key."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, to_builtins

from ganeti_tx.model.own_ports import FIRST_PORT
from ganeti_tx.model.settings.rules import SETTINGS

#: Every field of a cluster that has a sensible value before anybody has chosen one, as it is written.
CLUSTER_DEFAULTS: Mapping[str, Any] = {
    "highest_used_port": FIRST_PORT - 1,
    "tcpudp_port_pool": [],
    "rsahostkeypub": "",
    "candidate_certs": {},
    **{setting.name: to_builtins(setting.default) for setting in SETTINGS if setting.default is not UNSET},
}
NODE_DEFAULTS: Mapping[str, Any] = {
    "master_candidate": False,
    "offline": False,
    "drained": False,
    "master_capable": True,
    "vm_capable": True,
    "powered": True,
    "ndparams": {},
}
GROUP_DEFAULTS: Mapping[str, Any] = {
    "alloc_policy": "preferred",
    "ndparams": {},
    "ipolicy": {},
    "diskparams": {},
    "networks": {},
}
