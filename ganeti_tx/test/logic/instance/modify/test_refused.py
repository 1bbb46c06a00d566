"""What cannot be: each request of a table is refused with its code, one line that helps, and nothing is changed."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, HypervisorError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.rpc.calls.hotplug import HotplugSupported
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceInfo
from ganeti_tx.rpc.calls.node import BridgesExist, NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.test.logic.instance.modify.scene import UP, WITH_ALL, ModifyCase, changed
from ganeti_tx.test.logic.stage import RUNNING

INVAL, STATE, NOENT, NOTUNIQUE = ECode.INVAL, ECode.STATE, ECode.NOENT, ECode.NOTUNIQUE


def disk(action: str, item: Any, **params: Any) -> dict[str, Any]:
    """One change of disks."""
    return {"disks": [[action, item, params]]}


def nic(action: str, item: Any, **params: Any) -> dict[str, Any]:
    """One change of NICs."""
    return {"nics": [[action, item, params]]}


#: Of the instance that is down.
BAD: list[tuple[ECode, str, dict[str, Any]]] = [
    (INVAL, "beparams.nosuch: unknown parameter", {"beparams": {"nosuch": 1}}),
    (INVAL, "invalid value 'lots' for size parameter maxmem", {"beparams": {"maxmem": "lots"}}),
    (INVAL, "beparams.minmem: 512 MiB is above maxmem", {"beparams": {"minmem": 512}}),
    (INVAL, "beparams.memory: cannot be given together", {"beparams": {"memory": 1, "maxmem": 2}}),
    (INVAL, "beparams.vcpus: must be at least 1", {"beparams": {"vcpus": 0}}),
    (INVAL, "for int parameter vcpus", {"beparams": {"vcpus": None}}),
    (INVAL, "cpu-count value 99 is not in range", {"beparams": {"vcpus": 99}}),
    (INVAL, "memory-size value 99999 is not in range", {"beparams": {"memory": 99999}}),
    (ECode.NORES, "due to 904 MB of memory missing", {"beparams": {"maxmem": 5000}}),
    (INVAL, "hvparams.nosuch: unknown parameter", {"hvparams": {"nosuch": 1}}),
    (INVAL, "for bool parameter acpi", {"hvparams": {"acpi": "perhaps"}}),
    (INVAL, "cannot be customized at instance level", {"hvparams": {"migration_port": 1}}),
    (INVAL, "OS parameter a is given both as public and as private",
     {"osparams": {"a": "1"}, "osparams_private": {"a": "2"}}),
    (INVAL, "osparams.a: must be text", {"osparams": {"a": 1}}),
    (STATE, "the cluster's volume_group_name is not set, so there is no place for disks", {"disk_template": "plain"}),
    (INVAL, "remote_node goes with a new disk template", {"remote_node": "node2"}),
    (INVAL, "file_driver goes with a new disk template", {"file_driver": "loop"}),
    (NOENT, "nosuch", {"pnode": "nosuch"}),
    (STATE, "is the primary node of instance web1.example.com already", {"pnode": "node1"}),
    (STATE, "is not running", {"runtime_mem": 128}),
    (STATE, "no network for instance communication", {"instance_communication": True}),
    (INVAL, "5000 changes of NICs at once are too many; allowed are 32", {"nics": [["add", -1, {}]] * 5000}),
    (INVAL, "65 changes of disks at once are too many; allowed are 64", {"disks": [["add", -1, {"size": 1024}]] * 65}),
    (STATE, "Instance would have 34 NICs; allowed are 8", {"nics": [["add", -1, {}]] * 32}),
    (INVAL, "Missing required parameter 'size'", disk("add", -1)),
    (INVAL, "not a size", disk("add", -1, size="big")),
    (INVAL, "disk-size/2 value 5 is not in range", disk("add", -1, size=5)),
    (INVAL, "cannot be added at 7", disk("add", 7, size=1024)),
    (INVAL, "cannot be added at 'log'", disk("add", "log", size=1024)),
    (INVAL, "mode 'rx' is not allowed", disk("add", -1, size=1024, mode="rx")),
    (INVAL, "color is not known for template file", disk("add", -1, size=1024, color="red")),
    (INVAL, "adoption is not supported", disk("add", -1, adopt="/dev/x")),
    (INVAL, "Disk size change not possible, use grow-disk", disk("modify", 0, size=2048)),
    (INVAL, "mode 'rx' is not allowed", disk("modify", 0, mode="rx")),
    (INVAL, "'spindles' cannot be changed", disk("modify", 0, spindles=2)),
    (INVAL, "nothing to change is given", disk("modify", 0)),
    (INVAL, "Got disk index 9, but there are only 2", disk("remove", 9)),
    (NOENT, "Cannot find disk with identifier 'nosuch'", disk("remove", "nosuch")),
    (INVAL, "nothing can be said of it", disk("remove", 0, size=1024)),
    (NOENT, "there is none of name 'log' that no instance has", disk("attach", -1, name="log")),
    (NOENT, "there is none of uuid 'x'", disk("attach", -1, uuid="x")),
    (INVAL, "named by either name or uuid alone", disk("attach", -1)),
    (INVAL, "is of template plain", disk("attach", -1, name="volume")),
    (STATE, "is not on node node1", disk("attach", -1, name="far")),
    (INVAL, "with deactivated disks and --no-wait-for-sync", {**disk("add", -1, size=1024), "wait_for_sync": False}),
    (STATE, "Instance would have 17 disks", {"disks": [["add", -1, {"size": 1024}]] * 15}),
    (INVAL, "added and detached at once", {"disks": [["add", 0, {"size": 1024}], ["detach", 0, {}]]}),
    (NOTUNIQUE, "MAC address 'aa:00:00:00:00:03' already in use", nic("add", -1, mac="aa:00:00:00:00:03")),
    (NOTUNIQUE, "already in use in cluster", nic("modify", 0, mac="aa:00:00:00:00:02")),
    (INVAL, "not a MAC address", nic("add", -1, mac="aa:bb")),
    (INVAL, "not an IP address: '300.1.1.1'", nic("modify", 0, ip="300.1.1.1")),
    (INVAL, "a routed NIC needs an ip", nic("modify", 0, mode="routed")),
    (INVAL, "nicparams.mode: invalid value 'flying'", nic("modify", 0, mode="flying")),
    (INVAL, "nicparams.vlan", nic("modify", 0, mode="openvswitch", vlan="many")),
    (INVAL, "bridge and link mean the same", nic("add", -1, link="br1", bridge="br2")),
    (INVAL, "parameter network must be passed too", nic("modify", 0, ip="pool")),
    (INVAL, "the network says how its NICs are connected", nic("modify", "in", link="br1")),
    (NOENT, "nosuch", nic("modify", 0, network="nosuch")),
    (STATE, "belongs to network lan, but the target NIC does not", nic("modify", "in", network="none")),
    (NOTUNIQUE, "IP 10.9.0.1 not available in network lan", nic("modify", "in", ip="10.9.0.1")),
    (NOTUNIQUE, "not available in network lan", nic("add", -1, network="lan", ip="198.51.100.4")),
    (INVAL, "Got NIC index 7, but there are only 2", nic("remove", 7)),
    (NOENT, "Cannot find NIC with identifier 'nosuch'", nic("remove", "nosuch")),
    (INVAL, "nothing can be said of it", nic("remove", 0, ip="none")),
    (INVAL, "nothing to change is given", nic("modify", 0)),
    (NOTUNIQUE, "NIC cannot be named 'in': another one", nic("add", -1, name="in")),
    (NOTUNIQUE, "NIC cannot be named 'nic2-uuid': another one", nic("modify", 0, name="nic2-uuid")),
    (NOTUNIQUE, "disk cannot be named 'log': another one", disk("modify", 0, name="log")),
    (INVAL, "disk cannot be named '1': that is an index", disk("add", -1, size=1024, name="1")),
    (INVAL, "only printable characters are allowed", disk("modify", 0, name="a\nb")),
    (INVAL, "only printable characters are allowed", nic("modify", 0, name="a\nb")),
    (INVAL, "nic/0: link name", nic("modify", 0, link="br0\nbr1")),
    (INVAL, r"nic/0: not an IP address: 'fe80::1%\n'; one with a zone", nic("modify", 0, ip="fe80::1%\n")),
    (INVAL, "nic/0: ::ffff:10.9.0.6 is an IPv4 address written as IPv6", nic("modify", 0, ip="::ffff:10.9.0.6")),
    (INVAL, "NICs cannot be attached", nic("attach", -1, name="x")),
    (STATE, "Instance would have 9 NICs", {"nics": [["add", -1, {}]] * 7}),
]  # fmt: skip


class DownTests(ModifyCase):
    """The instance is down, its nodes are well."""

    def test_table(self) -> None:
        """All of it, several lines also behind something that could be done."""
        for code, words, params in BAD:
            self.bad(code, words, **params)
            both = {"beparams": {"auto_balance": False}, **params}
            self.bad(code, words, **both)
        self.assertGreater(len(BAD), 60)

    def test_nothing(self) -> None:
        """How a change is to be made is no change."""
        hows: list[dict[str, Any]] = [
            {},
            {"hotplug": True},
            {"ignore_ipolicy": True, "force": True},
            {"wait_for_sync": False},
        ]
        for how in hows:
            self.bad(INVAL, "No changes submitted", **how)

    def test_unknown(self) -> None:
        """There is no such instance."""
        self.bad(NOENT, "nosuch", name="nosuch", beparams={"vcpus": 2})

    def test_node_says_no(self) -> None:
        """A node refuses parameters, an OS or a bridge."""
        self.nodes.fail(HypervisorValidateParams, HypervisorError("no such kernel"))
        self.bad(INVAL, "no such kernel", hvparams={"acpi": True})
        self.nodes.fail(OsValidate, HypervisorError("dhcp must be yes or no"))
        self.bad(INVAL, "dhcp must be yes or no", osparams={"dhcp": "maybe"})
        self.nodes.fail(BridgesExist, HypervisorError("no bridge br7"))
        self.bad(ECode.ENVIRON, "no bridge br7", nics=[["add", -1, {"link": "br7"}]])

    def test_no_room(self) -> None:
        """The pool is too full for a new disk."""
        full = StorageSpace(type="file", name="/srv/ganeti/file-storage", storage_free=100, storage_size=1000)
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[full], hypervisors={"kvm": {"memory_free": 4096}}))
        self.bad(ECode.NORES, "not enough room", **disk("add", -1, size=1024))

    def test_runs_all_the_same(self) -> None:
        """What is marked down and runs."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.bad(STATE, "is running, can't change to offline", offline=True)
        self.bad(STATE, "is running, cannot change its primary node", pnode="node2")
        self.bad(STATE, "without using hotplug", **disk("remove", 0))
        self.bad(INVAL, "must have memory between 128 and 128 MB", runtime_mem=512)

    def test_new_primary(self) -> None:
        """A node that takes no instances."""
        for flag, words in (("offline", "offline node"), ("drained", "is drained")):
            nodes = dict(WITH_ALL.nodes)
            nodes["node2-uuid"] = replace(nodes["node2-uuid"], master_candidate=False, **{flag: True})
            self.stage = self.make_stage(replace(WITH_ALL, nodes=nodes))
            self.nodes = self.stage.nodes
            self.bad(STATE, words, pnode="node2")

    def test_other_group(self) -> None:
        """A node whose group does not have the instance's network."""
        nodes = dict(WITH_ALL.nodes)
        nodes["node2-uuid"] = replace(nodes["node2-uuid"], group="rack2-uuid")
        rack2 = replace(
            WITH_ALL.nodegroups["group-uuid"], uuid="rack2-uuid", name="rack2", networks={}, members=("node2-uuid",)
        )
        groups = {**WITH_ALL.nodegroups, "rack2-uuid": rack2}
        groups["group-uuid"] = replace(groups["group-uuid"], members=("node1-uuid",))
        self.stage = self.make_stage(replace(WITH_ALL, nodes=nodes, nodegroups=groups))
        self.nodes = self.stage.nodes
        self.bad(STATE, "network lan of instance web1.example.com is not connected to node group rack2", pnode="node2")

    def test_diskless(self) -> None:
        """New disks need a template; any that is free can be attached."""
        self.stage = self.make_stage(changed(WITH_ALL, disks=()))
        self.nodes = self.stage.nodes
        self.bad(INVAL, "Must specify disk type on diskless instance", **disk("add", -1, size=1024))

    def test_primary_offline(self) -> None:
        """Disks neither come nor leave there."""
        nodes = dict(WITH_ALL.nodes)
        nodes["node1-uuid"] = replace(nodes["node1-uuid"], offline=True, master_candidate=False)
        cluster = replace(WITH_ALL.cluster, master_node="node2-uuid", candidate_pool_size=1)
        self.stage = self.make_stage(replace(WITH_ALL, nodes=nodes, cluster=cluster))
        self.nodes = self.stage.nodes
        self.bad(STATE, "offline node: node1.example.com", **disk("add", -1, size=1024))
        self.bad(STATE, "offline node: node1.example.com", **disk("remove", -1))


class UpTests(ModifyCase):
    """The instance is up."""

    initial = UP

    def test_table(self) -> None:
        """What has to wait until it is down."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.bad(STATE, "is marked to be up, can't change to offline", offline=True)
        self.bad(STATE, "is marked to be up, can't change to online", offline=False)
        self.bad(STATE, "is marked to be up, cannot change its primary node", pnode="node2")
        self.bad(STATE, "can't remove volume from a running instance", **disk("detach", "log"))
        self.bad(INVAL, "must have memory between", runtime_mem=64)
        self.assertEqual(self.web1.admin_state, AdminState.UP)

    def test_no_hotplug(self) -> None:
        """What must be done at once and cannot be; the reason is the hypervisor's."""
        self.nodes.fail(HotplugSupported, HypervisorError("no free slot"))
        for change in (nic("add", -1), disk("add", -1, size=1024), disk("remove", 0)):
            self.bad(STATE, "Hotplug is not possible: node node1.example.com: no free slot", hotplug=True, **change)
        self.bad(STATE, "without using hotplug", hotplug_if_possible=True, **disk("remove", 0))
        self.assertEqual(self.nodes.of_kind(BlockdevCreate), [])
