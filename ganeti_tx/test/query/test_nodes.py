"""What is told of nodes."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.query.language.cell import NO_DATA, UNAVAILABLE
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.test.query.case import QueryCase

NODE1, NODE2 = "node1.example.com", "node2.example.com"
FACTS = NodeFacts(
    boot_id="b00t",
    storage=[StorageSpace("lvm-vg", "xenvg", 1000, 400), StorageSpace("lvm-pv", "xenvg", 6, 2)],
    hypervisors={
        "kvm": {
            "memory_total": 4096,
            "memory_free": 1024,
            "memory_dom0": 512,
            "cpu_total": 8,
            "cpu_nodes": 1,
            "cpu_sockets": 2,
            "cpu_dom0": 4,
        }
    },
)
TOLD = {
    "bootid": "b00t",
    "mtotal": 4096,
    "mfree": 1024,
    "mnode": 512,
    "ctotal": 8,
    "cnodes": 1,
    "csockets": 2,
    "cnos": 4,
    "dtotal": 1000,
    "dfree": 400,
    "sptotal": 6,
    "spfree": 2,
}


class RoleTests(QueryCase):
    """The role in a letter."""

    def role(self, **changes: Any) -> Any:
        """The role of the second node."""
        self.change_node("node2-uuid", **{"offline": False, "drained": False, "master_candidate": False, **changes})
        return self.classic("node", ["node2"], ["role", "master"])[0]

    def test_roles(self) -> None:
        """Offline goes before drained, and both before candidate; the master is nothing else."""
        self.assertEqual(self.role(), ["R", False])
        self.assertEqual(self.role(master_candidate=True), ["C", False])
        self.assertEqual(self.role(drained=True), ["D", False])
        self.assertEqual(self.role(offline=True), ["O", False])
        self.assertEqual(self.role(offline=True, drained=True), ["O", False])
        self.change_cluster(master_node="node2-uuid")
        self.assertEqual(self.role(master_candidate=True), ["M", True])


class StoredTests(QueryCase):
    """What the configuration holds."""

    def test_plain(self) -> None:
        """Settings come as they are stored."""
        changes = {"tags": ("a",), "serial_no": 4, "ctime": 1.5, "mtime": 2.5, "powered": False}
        self.change_node("node1-uuid", ndparams={"oob_program": "/etc/oob"})
        self.change_node("node1-uuid", **changes)
        fields = {
            **changes,
            "name": NODE1,
            "uuid": "node1-uuid",
            "pip": "192.0.2.11",
            "sip": "192.0.2.11",
            "offline": False,
            "drained": False,
            "master_candidate": True,
            "master_capable": True,
            "vm_capable": True,
            "group": "default",
            "group.uuid": "group-uuid",
        }
        self.assertEqual(self.classic("node", ["node1"], [*fields]), [[*fields.values()]])

    def test_powered(self) -> None:
        """Nothing is known of the power of a node without an out-of-band program."""
        self.change_node("node1-uuid", powered=True)
        self.change_node("node2-uuid", powered=True, ndparams={"oob_program": "/etc/oob"})
        self.assertEqual(self.classic("node", [], ["powered"]), [[None], [True]])

    def test_instances(self) -> None:
        """Instances by the node's part in them, in natural order."""
        for name in ("app10", "app9"):
            self.add_instance(name)
        fields = ["pinst_cnt", "pinst_list", "sinst_cnt", "sinst_list"]
        expected = [[3, ["app9", "app10", "web1.example.com"], 0, []], [0, [], 1, ["web1.example.com"]]]
        rows = self.classic("node", [], fields)
        self.assertEqual([[*map(as_list, row)] for row in rows], expected)

    def test_parameters(self) -> None:
        """Built-in values, under the cluster's, the group's and the node's own."""
        self.change_cluster(ndparams={"ssh_port": 2200, "ovs": True})
        group = replace(self.config.nodegroups["group-uuid"], ndparams={"ssh_port": 2201, "spindle_count": 3})
        self.config = replace(self.config, nodegroups={group.uuid: group})
        self.change_node("node1-uuid", ndparams={"ssh_port": 2202})
        fields = ["ndp/ssh_port", "ndp/spindle_count", "ndp/ovs", "ndp/exclusive_storage"]
        self.assertEqual(self.classic("node", [], fields), [[2202, 3, True, False], [2201, 3, True, False]])
        self.assertEqual(self.classic("group", [], fields), [[2201, 3, True, False]])
        self.assertEqual(self.classic("node", [], ["custom_ndparams"]), [[{"ssh_port": 2202}], [{}]])
        ((filled,), _) = self.classic("node", [], ["ndparams"])
        self.assertEqual(self.classic("node", ["node1"], [f"ndp/{key}" for key in filled]), [[*filled.values()]])

    def test_state_set_by_hand(self) -> None:
        """The state of hypervisor and disks is there only when it was set."""
        self.change_node("node2-uuid", hv_state_static={"kvm": {"mem_node": 1}})
        expected = [(UNAVAILABLE, UNAVAILABLE), ((0, {"kvm": {"mem_node": 1}}), UNAVAILABLE)]
        self.assertEqual(self.ask("node", ["hv_state", "disk_state"]), expected)


class LiveTests(QueryCase):
    """What nodes say."""

    def setUp(self) -> None:
        """A cluster with a volume group."""
        super().setUp()
        self.change_cluster(volume_group_name="xenvg")

    def live(self, *fields: str) -> Any:
        """The first node's cells."""
        return self.ask("node", fields, ["=", "name", "node1"])[0]

    def test_told(self) -> None:
        """Each field has its number of the answer."""
        self.rpc.answer(NodeInfo, FACTS)
        self.assertEqual(self.live(*TOLD), tuple((0, value) for value in TOLD.values()))

    def test_asked(self) -> None:
        """Asked is for the first hypervisor and the volume group, and for its spindles only when they are to be shown."""
        for fields, types in ((("mfree", "dfree"), ["lvm-vg"]), (("spfree",), ["lvm-vg", "lvm-pv"])):
            self.rpc.sent.clear()
            self.live(*fields)
            (call,) = self.rpc.of_kind(NodeInfo)
            self.assertEqual(call.hypervisors, ["kvm"])
            self.assertEqual(
                [(unit.type, unit.name) for unit in call.storage_units], [(kind, "xenvg") for kind in types]
            )

    def test_filtered_by_spindles(self) -> None:
        """Spindles are asked for as well when only the filter speaks of them."""
        self.rpc.answer(NodeInfo, FACTS)
        self.assertEqual(self.names("node", [">", "spfree", 2]), [])
        self.assertEqual(self.names("node", [">", "spfree", 1]), [NODE1, NODE2])

    def test_partly_told(self) -> None:
        """What the answer lacks has no data; a zero is a value."""
        self.rpc.answer(NodeInfo, NodeFacts("", [StorageSpace("lvm-vg", "xenvg", 1000)], {"kvm": {"memory_free": 0}}))
        found = self.live("bootid", "mfree", "mtotal", "dtotal", "dfree", "spfree")
        self.assertEqual(found, (NO_DATA, (0, 0), NO_DATA, (0, 1000), NO_DATA, NO_DATA))

    def test_no_storage(self) -> None:
        """Without a pool of known size there is none to ask for, and no room to tell of."""
        self.change_cluster(volume_group_name=None)
        self.rpc.answer(NodeInfo, replace(FACTS, storage=[]))
        self.assertEqual(self.live("dfree", "spfree", "mfree"), (UNAVAILABLE, NO_DATA, (0, 1024)))
        self.assertEqual([call.storage_units for call in self.rpc.of_kind(NodeInfo)], [[]])

    def test_file_storage(self) -> None:
        """The first enabled template says which storage counts; files have no spindles."""
        self.change_cluster(enabled_disk_templates=(DiskTemplate.FILE, DiskTemplate.PLAIN), file_storage_dir="/srv/f")
        self.rpc.answer(NodeInfo, NodeFacts("b", [StorageSpace("file", "/srv/f", 70, 30)], {}))
        self.assertEqual(self.live("dtotal", "dfree", "spfree"), ((0, 70), (0, 30), NO_DATA))
        (call,) = self.rpc.of_kind(NodeInfo)
        self.assertEqual([(unit.type, unit.name) for unit in call.storage_units], [("file", "/srv/f")])

    def test_no_answer(self) -> None:
        """A node that answers nothing has no data."""
        self.assertEqual(set(self.live(*TOLD)), {NO_DATA})


def as_list(value: Any) -> Any:
    """A list that is seen as such in JSON."""
    return list(value) if isinstance(value, tuple) else value
