"""A cluster to ask about, and ways to ask."""

from typing import Any

import msgspec
from msgspec.structs import replace

from ganeti_tx.confd.answers import Answers
from ganeti_tx.confd.codec import Body, Key, decode_reply, envelope_of, sign
from ganeti_tx.confd.messages import Reply, Request
from ganeti_tx.confd.protocol import Present, respond
from ganeti_tx.confd.view import view_of
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.settings.collectors import DataCollector
from ganeti_tx.test.model import samples

RAW_KEY = b"0123456789abcdef\n"
KEY = Key(RAW_KEY)
NOW = 1_700_000_000.0

CLUSTER = replace(
    samples.CLUSTER,
    serial_no=7,
    nicparams={"default": {"link": "br0"}},
    osparams_private_cluster={"debian": {"token": "cluster-s3cret"}},
    data_collectors={"cpu-avg-load": DataCollector(active=True, interval=5_000_000)},
    tags=("a/b", "m~n"),
)
NODE = replace(samples.NODE, serial_no=3)
NODE2 = replace(samples.NODE2, serial_no=4, master_candidate=True)
#: Not a candidate any more; each later one has what goes before it in the order of roles.
NODE3 = replace(NODE2, uuid="node3-uuid", name="node3.example.com", primary_ip="192.0.2.13", master_candidate=False)
NODE4 = replace(NODE3, uuid="node4-uuid", name="node4.example.com", primary_ip="192.0.2.14", offline=True)
NODE5 = replace(NODE4, uuid="node5-uuid", name="node5.example.com", primary_ip="192.0.2.15", drained=True)
WEB1 = replace(
    samples.INSTANCE,
    serial_no=5,
    nics=(
        replace(samples.NIC, ip="198.51.100.1"),
        replace(samples.NIC, uuid="nic2-uuid", ip="198.51.100.2", nicparams={"link": "br1"}),
        replace(samples.NIC, uuid="nic3-uuid"),
    ),
)
WEB2 = replace(
    WEB1,
    uuid="inst2-uuid",
    name="web2.example.com",
    primary_node="node2-uuid",
    nics=(replace(samples.NIC, uuid="nic4-uuid", ip="198.51.100.3"),),
    disks=(),
)
CONFIG = replace(
    samples.CONFIG,
    serial_no=42,
    cluster=CLUSTER,
    nodes={node.uuid: node for node in (NODE, NODE2, NODE3, NODE4, NODE5)},
    instances={each.uuid: each for each in (WEB2, WEB1)},
)


def present(config: ConfigData = CONFIG, key: Key = KEY) -> Present:
    """What a server answers with."""
    return Present(key, Answers(view_of(config)))


def request(
    kind: int, query: Any = None, *, rsalt: str = "our salt", time: float = NOW, key: Key = KEY, **others: Any
) -> bytes:
    """A datagram that asks."""
    body = Body.of(Request(kind, rsalt, msgspec.Raw(msgspec.json.encode(query)), **others))
    return sign(key, body, f"{int(time)}")


def reply_in(datagram: bytes | None) -> Reply:
    """What an answer says."""
    assert datagram is not None, "no answer"
    return decode_reply(envelope_of(datagram).msg)


def ask(kind: int, query: Any = None, config: ConfigData = CONFIG) -> tuple[int, Any, int]:
    """Status, answer and serial number of a reply."""
    reply = reply_in(respond(present(config), request(kind, query), NOW))
    return reply.status, reply.answer, reply.serial
