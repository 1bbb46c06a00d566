"""The fields of whole objects (Ganeti 3.0 RAPI table, field_sets), with the schemas of their values; at the end of each
stands what Ganeti does not tell although it can be set.

A value is null where the item has none, or where the node that knows it does not answer.
"""

from collections.abc import Mapping

from ganeti_tx.rapi.operations.operation import Schema
from ganeti_tx.rapi.operations.schemas import BOOLEAN, INTEGER, NUMBER, OBJECT, TEXT, list_of, maybe

TEXTS = list_of(TEXT)
MAYBE_TEXT = maybe(TEXT)
MAYBE_INTEGER = maybe(INTEGER)
MAYBE_BOOLEAN = maybe(BOOLEAN)
#: One value a card or disk, null where it has none.
EACH_TEXT = maybe(list_of(MAYBE_TEXT))
EACH_INTEGER = maybe(list_of(MAYBE_INTEGER))
#: Seconds since the epoch.
TIME = maybe(NUMBER)
#: [seconds, microseconds] since the epoch.
JOB_TIME = maybe({"type": "array", "items": INTEGER, "minItems": 2, "maxItems": 2})

TRACKED: Mapping[str, Schema] = {"ctime": TIME, "mtime": TIME, "uuid": TEXT, "serial_no": INTEGER, "tags": TEXTS}

INSTANCE: Mapping[str, Schema] = {
    "name": TEXT,
    "admin_state": TEXT,
    "os": MAYBE_TEXT,
    "pnode": MAYBE_TEXT,
    "snodes": TEXTS,
    "disk_template": TEXT,
    "nic.ips": EACH_TEXT,
    "nic.macs": EACH_TEXT,
    "nic.modes": EACH_TEXT,
    "nic.uuids": EACH_TEXT,
    "nic.names": EACH_TEXT,
    "nic.links": EACH_TEXT,
    "nic.networks": EACH_TEXT,
    "nic.networks.names": EACH_TEXT,
    "nic.bridges": EACH_TEXT,
    "network_port": MAYBE_INTEGER,
    "disk.sizes": EACH_INTEGER,
    "disk.spindles": EACH_INTEGER,
    "disk_usage": MAYBE_INTEGER,
    "disk.uuids": EACH_TEXT,
    "disk.names": EACH_TEXT,
    "beparams": OBJECT,
    "hvparams": OBJECT,
    "oper_state": MAYBE_BOOLEAN,
    "oper_ram": MAYBE_INTEGER,
    "oper_vcpus": MAYBE_INTEGER,
    "status": TEXT,
    "custom_hvparams": OBJECT,
    "custom_beparams": OBJECT,
    "custom_nicparams": list_of(OBJECT),
    **TRACKED,
}

NODE: Mapping[str, Schema] = {
    "name": TEXT,
    "offline": BOOLEAN,
    "master_candidate": BOOLEAN,
    "drained": BOOLEAN,
    "dtotal": MAYBE_INTEGER,
    "dfree": MAYBE_INTEGER,
    "sptotal": MAYBE_INTEGER,
    "spfree": MAYBE_INTEGER,
    "mtotal": MAYBE_INTEGER,
    "mnode": MAYBE_INTEGER,
    "mfree": MAYBE_INTEGER,
    "pinst_cnt": INTEGER,
    "sinst_cnt": INTEGER,
    "ctotal": MAYBE_INTEGER,
    "cnos": MAYBE_INTEGER,
    "cnodes": MAYBE_INTEGER,
    "csockets": MAYBE_INTEGER,
    "pip": TEXT,
    "sip": TEXT,
    "role": {**TEXT, "enum": ["M", "C", "R", "D", "O"]},
    "pinst_list": TEXTS,
    "sinst_list": TEXTS,
    "master_capable": BOOLEAN,
    "vm_capable": BOOLEAN,
    "ndparams": OBJECT,
    "group.uuid": TEXT,
    **TRACKED,
    "group": MAYBE_TEXT,
    "powered": MAYBE_BOOLEAN,
    "hv_state": maybe(OBJECT),
    "disk_state": maybe(OBJECT),
    "custom_ndparams": OBJECT,
}

GROUP: Mapping[str, Schema] = {
    "alloc_policy": {**TEXT, "enum": ["preferred", "last_resort", "unallocable"]},
    "name": TEXT,
    "node_cnt": INTEGER,
    "node_list": TEXTS,
    "ipolicy": OBJECT,
    "custom_ipolicy": OBJECT,
    "diskparams": OBJECT,
    "custom_diskparams": OBJECT,
    "ndparams": OBJECT,
    "custom_ndparams": OBJECT,
    **TRACKED,
    "hv_state": OBJECT,
    "disk_state": OBJECT,
}

NETWORK: Mapping[str, Schema] = {
    "name": TEXT,
    "network": TEXT,
    "gateway": MAYBE_TEXT,
    "network6": MAYBE_TEXT,
    "gateway6": MAYBE_TEXT,
    "mac_prefix": MAYBE_TEXT,
    "free_count": MAYBE_INTEGER,
    "reserved_count": MAYBE_INTEGER,
    "map": MAYBE_TEXT,
    "group_list": list_of(list_of(TEXT)),
    "inst_list": TEXTS,
    "external_reservations": MAYBE_TEXT,
    **TRACKED,
}

FILTER: Mapping[str, Schema] = {
    "watermark": INTEGER,
    "priority": INTEGER,
    "predicates": list_of({}),
    "action": {},
    "reason_trail": list_of(list_of({})),
    "uuid": TEXT,
}

JOB_BULK: Mapping[str, Schema] = {
    "id": INTEGER,
    "ops": maybe(list_of(OBJECT)),
    "status": MAYBE_TEXT,
    "summary": maybe(TEXTS),
    "opstatus": maybe(TEXTS),
    "received_ts": JOB_TIME,
    "start_ts": JOB_TIME,
    "end_ts": JOB_TIME,
}
JOB: Mapping[str, Schema] = {**JOB_BULK, "oplog": maybe(list_of(list_of({}))), "opresult": maybe(list_of({}))}
