"""Each request, as the table of confd says."""

import json
from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd.messages import ErrorCode, NodeRole, RequestType, Status
from ganeti_tx.confd.protocol import respond
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData
from ganeti_tx.test.confd.cases import CLUSTER, CONFIG, NOW, WEB1, WEB2, ask, present, reply_in, request
from ganeti_tx.test.model import samples

OK, ERROR = Status.OK, Status.ERROR
CLUSTER_SERIAL = 7
ARGUMENT = (ERROR, ErrorCode.ARGUMENT, CLUSTER_SERIAL)
EMPTY: dict[str, Any] = {}
NEITHER: tuple[Any, ...] = (None, 5, True, [], {})


def plain(value: Any) -> Any:
    """As it looks after it has crossed the wire."""
    return msgspec.json.decode(msgspec.json.encode(value))


class SimpleTests(SynchronousTestCase):
    """Requests about the cluster."""

    def test_ping(self) -> None:
        """PING gives the configuration's version, with serial number 0, whatever the query."""
        for query in (None, "x", EMPTY, 7):
            self.assertEqual(ask(RequestType.PING, query), (OK, CONFIG_VERSION, 0))

    def test_master(self) -> None:
        """CLUSTER_MASTER gives the name, or the fields asked for in their order."""
        self.assertEqual(ask(3), (OK, "node1.example.com", CLUSTER_SERIAL))
        every = ["192.0.2.11", "node1.example.com", "192.0.2.1", "192.0.2.11"]
        self.assertEqual(ask(3, {"3": [2, 0, 1, 2]}), (OK, every, CLUSTER_SERIAL))
        self.assertEqual(ask(3, {}), (OK, [], CLUSTER_SERIAL))

    def test_master_wrong(self) -> None:
        """A text, or a field that is none, is a wrong argument."""
        for query in ("node1", "", {"3": [3]}, {"3": ["0"]}, {"3": 0}, [0], 1):
            self.assertEqual(ask(3, query), ARGUMENT, query)

    def test_nodes(self) -> None:
        """NODE_PIP_LIST gives all nodes, MC_PIP_LIST the candidates."""
        every = [f"192.0.2.1{number}" for number in range(1, 6)]
        self.assertEqual(ask(4, "ignored"), (OK, every, CLUSTER_SERIAL))
        self.assertEqual(ask(5, ["ignored"]), (OK, every[:2], CLUSTER_SERIAL))

    def test_collectors(self) -> None:
        """DATA_COLLECTORS tells of each whether it runs, and how often."""
        expected = {"cpu-avg-load": {"active": True, "interval": 5_000_000}}
        self.assertEqual(ask(11, {"x": 1}), (OK, expected, CLUSTER_SERIAL))


class NodeTests(SynchronousTestCase):
    """Requests about a node."""

    def test_roles(self) -> None:
        """The first that applies of master, drained, offline, candidate, regular."""
        expected = [NodeRole.MASTER, NodeRole.CANDIDATE, NodeRole.REGULAR, NodeRole.OFFLINE, NodeRole.DRAINED]
        for number, role in enumerate(expected, 1):
            for name in (
                f"node{number}.example.com",
                f"node{number}-uuid",
                f"NODE{number}.example.com",
                f"node{number}",
            ):
                self.assertEqual(ask(1, name), (OK, role, CLUSTER_SERIAL), name)

    def test_unknown_role(self) -> None:
        """For a node that is not known there is a text, with serial number 0; so there is for a wrong query."""
        status, text, serial = ask(1, "node9")
        self.assertEqual((status, serial), (ERROR, 0))
        self.assertEqual(text, "Node 'node9' not known")
        for query in NEITHER:
            status, text, serial = ask(1, query)
            self.assertEqual((status, text, serial), (ERROR, "the query must be the name of a node", 0))

    def test_drbd(self) -> None:
        """NODE_DRBD tells node, minor, instance, disk, role and peer of each mirror, with the node's serial number."""
        here = ["node1.example.com", 0, "web1.example.com", "disk/0", "primary", "node2.example.com"]
        there = ["node2.example.com", 1, "web1.example.com", "disk/0", "secondary", "node1.example.com"]
        self.assertEqual(ask(7, "node1.example.com"), (OK, [here], 3))
        self.assertEqual(ask(7, "node2.example.com"), (OK, [there], 4))
        self.assertEqual(ask(7, "node3.example.com"), (OK, [], 4))

    def test_instances(self) -> None:
        """NODE_INSTANCES gives the primary and the secondary instances whole, with the node's serial number."""
        web1 = plain(replace(WEB1, osparams_private={"password": "<redacted>"}))
        web2 = plain(replace(WEB2, osparams_private={"password": "<redacted>"}))
        self.assertEqual(ask(8, "node1-uuid"), (OK, [[web1], []], 3))
        self.assertEqual(ask(8, "node2"), (OK, [[web2], [web1]], 4))

    def test_wrong(self) -> None:
        """A node that is not known is a text; what is no text is a wrong argument."""
        for kind in (RequestType.NODE_DRBD, RequestType.NODE_INSTANCES):
            self.assertEqual(ask(kind, "node9"), (ERROR, "Node 'node9' not known", 0))
            for query in NEITHER:
                self.assertEqual(ask(kind, query), ARGUMENT, query)

    def test_forthcoming(self) -> None:
        """A mirror that has no place yet is on no node, and keeps nothing else from being answered."""
        for place in (None, (), ("node1-uuid",)):
            disk = replace(samples.DISK, logical_id=place, forthcoming=True, nodes=())
            config = replace(CONFIG, disks={disk.uuid: disk})
            self.assertEqual(ask(7, "node1", config), (OK, [], 3))
            self.assertEqual(ask(9, "web1", config)[:1], (OK,))


class InstanceTests(SynchronousTestCase):
    """Requests about instances."""

    def test_node_by_ip(self) -> None:
        """The address of an instance on a link leads to that of its node; the default link is the cluster's."""
        self.assertEqual(ask(2, {"1": "198.51.100.1"}), (OK, "192.0.2.11", CLUSTER_SERIAL))
        self.assertEqual(ask(2, {"0": "br0", "1": "198.51.100.3"}), (OK, "192.0.2.12", CLUSTER_SERIAL))
        self.assertEqual(ask(2, {"0": "br1", "1": "198.51.100.2", "3": [0]}), (OK, "192.0.2.11", CLUSTER_SERIAL))
        self.assertEqual(ask(2, {"0": None, "1": "198.51.100.1", "2": ["x"]}), (OK, "192.0.2.11", CLUSTER_SERIAL))

    def test_unknown_ip(self) -> None:
        """An address that nobody has there is an unknown entry."""
        for query in ({"1": "198.51.100.2"}, {"0": "br1", "1": "198.51.100.1"}, {"0": "no", "1": "x"}, {"1": ""}):
            self.assertEqual(ask(2, query), (ERROR, ErrorCode.UNKNOWN_ENTRY, CLUSTER_SERIAL))

    def test_nodes_by_ips(self) -> None:
        """Several addresses give a triple of status, answer and serial number each."""
        found = [[0, "192.0.2.12", CLUSTER_SERIAL], [1, 0, CLUSTER_SERIAL], [0, "192.0.2.11", CLUSTER_SERIAL]]
        self.assertEqual(ask(2, {"2": ["198.51.100.3", "x", "198.51.100.1"]}), (OK, found, CLUSTER_SERIAL))
        self.assertEqual(ask(2, {"2": []}), (OK, [], CLUSTER_SERIAL))

    def test_wrong_ip(self) -> None:
        """What names no address is a wrong argument."""
        wrong: list[Any] = ["198.51.100.1", None, {}, {"0": "br0"}, {"1": 5}, {"2": "x"}, {"2": [1]}, [], 1]
        for query in [*wrong, {"0": 1, "1": "198.51.100.1"}]:
            self.assertEqual(ask(2, query), ARGUMENT, query)

    def test_ips(self) -> None:
        """INSTANCES_IPS_LIST gives the addresses on one link."""
        self.assertEqual(ask(6), (OK, ["198.51.100.1", "198.51.100.3"], CLUSTER_SERIAL))
        self.assertEqual(ask(6, "br1"), (OK, ["198.51.100.2"], CLUSTER_SERIAL))
        self.assertEqual(ask(6, "br2"), (OK, [], CLUSTER_SERIAL))
        self.assertEqual(ask(6, {}), ARGUMENT)

    def test_disks(self) -> None:
        """INSTANCE_DISKS gives the disks whole, with the instance's serial number."""
        status, disks, serial = ask(9, "web1")
        self.assertEqual((status, serial), (OK, 5))
        self.assertEqual([disk["uuid"] for disk in disks], ["disk-uuid"])
        self.assertEqual([child["uuid"] for child in disks[0]["children"]], ["data-uuid", "meta-uuid"])
        self.assertEqual(ask(9, "inst2-uuid"), (OK, [], 5))
        self.assertEqual(ask(9, "web9"), (ERROR, "Instance 'web9' not known", 0))
        self.assertEqual(ask(9, None), ARGUMENT)


class ConfigTests(SynchronousTestCase):
    """CONFIG_QUERY."""

    def test_values(self) -> None:
        """A pointer leads to whatever value is there."""
        for pointer, value in (
            ("/serial_no", 42),
            ("/cluster/master_ip", "192.0.2.1"),
            ("/cluster/tags/1", "m~n"),
            ("/cluster/nicparams/default/link", "br0"),
            ("/instances/inst-uuid/nics/1/ip", "198.51.100.2"),
            ("/disks/disk-uuid/children/0/size", 1024),
            ("/cluster/data_collectors/cpu-avg-load", {"active": True, "interval": 5_000_000}),
            ("/nodes/node1-uuid", plain(CONFIG.nodes["node1-uuid"])),
        ):
            self.assertEqual(ask(10, pointer), (OK, value, CLUSTER_SERIAL), pointer)

    def test_whole(self) -> None:
        """The empty pointer is the whole, as the file has it save the secrets."""
        status, whole, _ = ask(10, "")
        self.assertEqual(status, OK)
        self.assertEqual(set(whole), set(msgspec.to_builtins(CONFIG)))
        self.assertEqual(msgspec.convert(whole, ConfigData).nodes, CONFIG.nodes)

    def test_escapes(self) -> None:
        """~1 is a slash and ~0 a tilde, decoded in that order."""
        cluster = replace(CLUSTER, osparams={"a/b": {"m~1n": "x"}})
        config = replace(CONFIG, cluster=cluster)
        self.assertEqual(ask(10, "/cluster/osparams/a~1b/m~01n", config)[:2], (OK, "x"))

    def test_bad(self) -> None:
        """Every pointer that leads nowhere is a wrong argument."""
        for pointer in (
            "serial_no", "/", "/no", "/serial_no/0", "/cluster/tags/2", "/cluster/tags/-", "/cluster/tags/01",
            "/cluster/tags/-1", "/cluster/tags/x", "/cluster/tags/0/", "/cluster/~2", "/cluster/~", "/__class__",
            "/cluster/__struct_fields__", "/nodes/node9", "/cluster/tags/\u0660", "/cluster/tags/99999999999999999999",
            None, EMPTY, 5,
        ):  # fmt: skip
            self.assertEqual(ask(10, pointer), ARGUMENT, pointer)

    def test_deep(self) -> None:
        """A pointer of thousands of steps costs nothing but its reading."""
        self.assertEqual(ask(10, "/cluster" * 400), ARGUMENT)


class SecretTests(SynchronousTestCase):
    """Replies are signed, not encrypted."""

    def test_none(self) -> None:
        """No answer of any request holds a secret of the configuration, under any pointer."""
        queries: list[tuple[int, object]] = [
            (kind, query) for kind in range(12) for query in (None, "node1", "node2", "web1", EMPTY)
        ]
        queries += [
            (10, pointer) for pointer in ("", "/cluster", "/disks", "/instances", "/disks/disk-uuid/logical_id/5")
        ]
        queries += [(10, "/instances/inst-uuid/osparams_private/password"), (10, "/cluster/osparams_private_cluster")]
        for kind, query in queries:
            text = json.dumps(ask(kind, query))
            self.assertNotIn("s3cret", text)
        self.assertIn("s3cret", msgspec.json.encode(CONFIG).decode())

    def test_places(self) -> None:
        """Names and places of what is blanked are kept, so that who counts on them finds them."""
        self.assertEqual(ask(10, "/instances/inst-uuid/osparams_private")[1], {"password": "<redacted>"})
        self.assertEqual(ask(9, "web1")[1][0]["logical_id"], [*(samples.DISK.logical_id or ())[:5], "<redacted>"])


class FaultTests(SynchronousTestCase):
    """A fault of ours in one answer."""

    def test_internal(self) -> None:
        """It is told as an internal error and logged once; other requests are answered."""
        broken = present(replace(CONFIG, cluster=replace(CLUSTER, master_node="nobody")))
        for _ in range(3):
            reply = reply_in(respond(broken, request(3), NOW))
            self.assertEqual((reply.status, reply.answer), (ERROR, ErrorCode.INTERNAL))
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)
        self.assertEqual(reply_in(respond(broken, request(0), NOW)).status, OK)
