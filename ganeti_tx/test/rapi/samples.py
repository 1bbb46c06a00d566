"""Values for the placeholders in what the stock client sends."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

PATHS = {
    "<instance>": "web1.example.com",
    "<node>": "node1.example.com",
    "<group>": "default",
    "<network>": "lan",
    "<network_name>": "lan",
    "<uuid>": "b6d3f6a2-0d5e-4b9b-9f9c-2b6f3a1f0c11",
    "<filter_uuid>": "b6d3f6a2-0d5e-4b9b-9f9c-2b6f3a1f0c11",
    "<what>": "node",
}
#: Sensible values by the key of a body or the name of an argument.
VALUES: Mapping[str, Any] = {
    "action": "ACCEPT",
    "add_reserved_ips": ["192.0.2.7"],
    "alloc_policy": "preferred",
    "amount": 512,
    "auto-promote": 1,
    "cleanup": True,
    "compress": "gzip",
    "destination": "node2.example.com",
    "destination_x509_ca": "-----BEGIN CERTIFICATE-----",
    "disks": [{"size": 1024}],
    "early_release": True,
    "fields": ["id", "status"],
    "gateway": "192.0.2.1",
    "gateway6": "2001:db8::1",
    "iallocator": "hail",
    "ignore_consistency": True,
    "ignore_secondaries": 1,
    "instances": [],
    "ip_check": False,
    "mac_prefix": "aa:00:01",
    "name": "one",
    "name_check": False,
    "network": "192.0.2.0/24",
    "network6": "2001:db8::/64",
    "network_link": "br0",
    "network_mode": "bridged",
    "network_vlan": "7",
    "new_name": "two",
    "nics": [{"mode": "bridged"}],
    "nodes": ["node2.example.com"],
    "osparams": {"release": "bookworm"},
    "output_fields": ["name,size"],
    "predicates": [["jobid", [">", "id", "watermark"]]],
    "previous_job_info": ["3", "queued"],
    "previous_log_serial": 4,
    "priority": 3,
    "qfilter": ["=", "name", "node1"],
    "filter": ["=", "name", "node1"],
    "reason": "because",
    "remove_instance": True,
    "shutdown": False,
    "storage_type": "lvm-vg",
    "tags": ["web", "db"],
    "tag": ["web", "db"],
    "target_node": "node3.example.com",
    "type": "soft",
    "wait_for_sync": False,
    "x509_key_name": ["key", "hash", "salt"],
}
#: Where the same key means something else.
MODES = {
    "ConnectNetwork": "routed",
    "CreateInstance": "create",
    "EvacuateNode": "primary-only",
    "ExportInstance": "remote",
    "MigrateInstance": "live",
    "PrepareExport": "remote",
    "ReplaceInstanceDisks": "replace_new_secondary",
}
BY_CLIENT_METHOD: Mapping[str, Mapping[str, Any]] = {
    "EvacuateNode": {"early_release": True},
    "RecreateInstanceDisks": {"disks": [0, 1]},
    "ReinstallInstance": {"os": "debian"},
    "ReplaceInstanceDisks": {"disks": "0,1", "remote_node": "node2.example.com", "early_release": 1},
    "ReplaceFilter": {"reason": [["user", "text", 1], ["gnt:client", "", 2]]},
    "AddFilter": {"reason": [["user", "text", 1], ["gnt:client", "", 2]]},
}
OTHERS = "one"


def value_of(client_method: str, key: str, told: Any) -> Any:
    """A value in place of a placeholder; what is none stays."""
    if key == "mode" and isinstance(told, str) and told.startswith("<"):
        return MODES[client_method]
    if "<" in json.dumps(told) or (isinstance(told, str) and " " in told) or told == "bool":
        return BY_CLIENT_METHOD.get(client_method, {}).get(key, VALUES.get(key, OTHERS))
    return told


def address_of(client_method: str, told: Mapping[str, Any]) -> str:
    """Path and query."""
    path = "/".join(PATHS.get(part, part) for part in told["path"].split("/"))
    query = [(name, value_of(client_method, name, value)) for name, value in told["query"] or ()]
    return f"{path}?{urlencode([(name, number(value)) for name, value in query], doseq=True)}"


def number(value: Any) -> Any:
    """Clients write truth as 1 and 0."""
    return int(value) if isinstance(value, bool) else value


def body_of(client_method: str, told: Mapping[str, Any]) -> Any:
    """The body with values in place of placeholders."""
    body = told["body"]
    if not isinstance(body, dict):
        return body
    return {key: value_of(client_method, key, value) for key, value in body.items()}
