"""What is told of node groups, networks and job filter rules."""

from typing import Any

import msgspec
from msgspec.structs import replace

from ganeti_tx.model.enums import AllocPolicy, DiskTemplate
from ganeti_tx.model.params.ipolicy import PartialPolicy
from ganeti_tx.query.language.cell import UNAVAILABLE
from ganeti_tx.test.model.samples import FILTER, GROUP, NETWORK, NIC
from ganeti_tx.test.query.case import QueryCase


class GroupTests(QueryCase):
    """Node groups."""

    def setUp(self) -> None:
        """A second group with one node."""
        super().setUp()
        self.other = replace(
            GROUP,
            uuid="other-uuid",
            name="a-group",
            alloc_policy=AllocPolicy.UNALLOCABLE,
            networks={},
            ipolicy=PartialPolicy(spindle_ratio=4.5),
            diskparams={DiskTemplate.PLAIN: {"stripes": 3}},
        )
        self.config = replace(self.config, nodegroups={GROUP.uuid: GROUP, "other-uuid": self.other})
        self.add_node("node3.example.com", group="other-uuid")
        self.add_instance("app", primary_node="node3-uuid")

    def test_members(self) -> None:
        """Groups in natural order, each with its nodes and the instances of which they are primary."""
        fields = ["name", "alloc_policy", "node_cnt", "node_list", "pinst_cnt", "pinst_list"]
        nodes = ["node1.example.com", "node2.example.com"]
        expected = [
            ["a-group", "unallocable", 1, ["node3.example.com"], 1, ["app"]],
            ["default", "preferred", 2, nodes, 1, ["web1.example.com"]],
        ]
        self.assertEqual(self.classic("group", [], fields), expected)

    def test_empty(self) -> None:
        """A group may be empty."""
        group = replace(GROUP, uuid="empty", name="empty")
        self.config = replace(self.config, nodegroups={**self.config.nodegroups, "empty": group})
        fields = ["node_cnt", "node_list", "pinst_cnt", "pinst_list"]
        self.assertEqual(self.classic("group", ["empty"], fields), [[0, [], 0, []]])

    def test_parameters(self) -> None:
        """Disk parameters and the policy come filled and as the group's own."""
        fields = ["diskparams", "custom_diskparams", "ipolicy", "custom_ipolicy"]
        ((disks, own_disks, policy, own_policy),) = self.classic("group", ["a-group"], fields)
        self.assertEqual((disks["plain"]["stripes"], own_disks), (3, {"plain": {"stripes": 3}}))
        self.assertIn("drbd", disks)
        self.assertEqual(own_policy, {"spindle-ratio": 4.5})
        cluster_policy = msgspec.to_builtins(self.config.cluster.ipolicy)
        self.assertEqual(policy, {**cluster_policy, "spindle-ratio": 4.5})


class NetworkTests(QueryCase):
    """Networks."""

    def test_plain(self) -> None:
        """Settings come as they are stored; what is not set is unavailable."""
        self.assertEqual(
            self.ask("network", ["name", "network", "uuid"]), [((0, "lan"), (0, "192.0.2.0/28"), (0, "net-uuid"))]
        )
        optional = {
            "gateway": "192.0.2.1",
            "network6": "2001:db8::/64",
            "gateway6": "2001:db8::1",
            "mac_prefix": "aa:bb:cc",
        }
        self.assertEqual(self.ask("network", [*optional]), [(UNAVAILABLE,) * 4])
        self.config = replace(self.config, networks={NETWORK.uuid: replace(NETWORK, **optional)})
        self.assertEqual(self.classic("network", [], [*optional]), [[*optional.values()]])

    def assert_map(self, expected: str, **bits: Any) -> None:
        """The map is this, and the counts agree with it."""
        self.config = replace(self.config, networks={NETWORK.uuid: replace(NETWORK, **bits)})
        found = self.classic("network", [], ["map", "free_count", "reserved_count"])
        self.assertEqual(found, [[expected, expected.count("."), expected.count("X")]])

    def test_map(self) -> None:
        """An address is taken by an instance or by others."""
        self.assert_map("X..............X")
        self.assert_map("X..X...........X", ext_reservations="1001000000000001")
        self.assert_map("." * 16, reservations=None)
        self.assert_map("X" + "." * 15, reservations=None, ext_reservations="1" + "0" * 15)

    def test_external(self) -> None:
        """Addresses taken by others, one by one."""
        self.assertEqual(self.classic("network", [], ["external_reservations"]), [[""]])
        network = replace(NETWORK, ext_reservations="1001000000000001")
        self.config = replace(self.config, networks={NETWORK.uuid: network})
        expected = "192.0.2.0, 192.0.2.3, 192.0.2.15"
        self.assertEqual(self.classic("network", [], ["external_reservations"]), [[expected]])

    def test_users(self) -> None:
        """Groups with their parameters, and instances, each once however many NICs it has."""
        fields = ["group_cnt", "group_list", "inst_cnt", "inst_list"]
        nic = replace(NIC, network="net-uuid")
        self.change_instance(nics=(nic, replace(nic, uuid="second")))
        ((groups, listed, count, instances),) = self.classic("network", [], fields)
        self.assertEqual((groups, count, list(instances)), (1, 1, ["web1.example.com"]))
        self.assertEqual(listed, [["default", "bridged", "xen-br0", ""]])

    def test_nobody(self) -> None:
        """A network may be unused."""
        self.config = replace(self.config, nodegroups={GROUP.uuid: replace(GROUP, networks={})})
        ((groups, listed, count, instances),) = self.classic(
            "network", [], ["group_cnt", "group_list", "inst_cnt", "inst_list"]
        )
        self.assertEqual((groups, listed, count, list(instances)), (0, [], 0, []))


class RuleTests(QueryCase):
    """Job filter rules."""

    def test_plain(self) -> None:
        """A rule comes as it is stored."""
        fields = ["uuid", "watermark", "priority", "predicates", "action", "reason_trail"]
        expected = [[FILTER.uuid, 3, 0, FILTER.predicates, FILTER.action, FILTER.reason_trail]]
        self.assertEqual(self.classic("filter", [], fields), expected)

    def test_order(self) -> None:
        """Rules stand in the order in which they are asked: by priority, watermark, uuid."""
        made = [("a", 1, 0), ("b", 0, 9), ("c", 0, 10), ("d", 0, 9)]
        rules = {name: replace(FILTER, uuid=name, priority=order, watermark=mark) for name, order, mark in made}
        self.config = replace(self.config, filters=rules)
        self.assertEqual(self.names("filter"), ["b", "d", "c", "a"])

    def test_by_uuid(self) -> None:
        """Rules are asked for by uuid."""
        rules = {name: replace(FILTER, uuid=name) for name in ("c", "a", "b")}
        self.config = replace(self.config, filters=rules)
        self.assertEqual(self.names("filter"), ["a", "b", "c"])
        self.assertEqual(
            self.names("filter", ["|", ["=", "uuid", "c"], ["=", "uuid", "a"], ["=", "uuid", "c"]]), ["c", "a"]
        )
        self.assertEqual(self.classic("filter", ["b", "nobody", "a", "b"], ["uuid"]), [["b"], ["a"]])
