"""The document that allocators read."""

from typing import Any

import attrs
import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.allocator.document import Load, document
from ganeti_tx.allocator.requests import Allocate, Relocate
from ganeti_tx.model.instance_view import InstanceViews
from ganeti_tx.test.model import samples

LOAD = Load(
    total_memory=8192,
    free_memory=6000,
    reserved_memory=512,
    total_cpus=4,
    reserved_cpus=1,
    total_disk=100000,
    free_disk=90000,
    running={},
)
#: Ganeti 3.0 allocator table: input_top, node, instance, nodegroup.
TOP = "cluster_name cluster_tags enabled_hypervisors instances ipolicy nodegroups nodes request version"
STATIC = sorted(
    {
        *("drained", "group", "master_candidate", "master_capable", "ndparams", "offline"),
        *("primary_ip", "secondary_ip", "tags", "vm_capable"),
    }
)
DYNAMIC = [
    *("free_disk", "free_memory", "free_spindles", "i_pri_memory", "i_pri_up_memory", "reserved_cpus"),
    *("reserved_memory", "total_cpus", "total_disk", "total_memory", "total_spindles"),
]
INSTANCE = "admin_state disk_space_total disk_template disks disks_active hypervisor memory nics nodes os spindle_use tags vcpus"
GROUP = "alloc_policy ipolicy name networks tags"
REQUEST = Allocate(
    name="web2.example.com",
    memory=512,
    vcpus=1,
    spindle_use=1,
    os="noop",
    hypervisor="kvm",
    disk_template="file",
    disks=[{"size": 1024, "mode": "rw"}],
    disk_space_total=1024,
    nics=[],
    tags=[],
    required_nodes=1,
)


class DocumentTests(SynchronousTestCase):
    """A cluster of two nodes with one mirrored instance."""

    def document(self, loads: dict[str, Load], request: Any = REQUEST, **changes: Any) -> dict[str, Any]:
        """The document as a program reads it."""
        config = samples.CONFIG
        state = {
            "cluster": config.cluster,
            "instances": tuple(config.instances.values()),
            "disks": config.disks,
            "nodes": config.nodes,
            "groups": config.nodegroups,
            "networks": config.networks,
        }
        read: dict[str, Any] = msgspec.json.decode(document(InstanceViews(**{**state, **changes}), loads, request))
        return read

    def test_keys(self) -> None:
        """Every object has all keys of the table, and no others."""
        told = self.document({"node1.example.com": LOAD})
        self.assertEqual(sorted(told), TOP.split())
        self.assertEqual(told["version"], 2)
        self.assertEqual(sorted(told["nodes"]["node1.example.com"]), sorted(STATIC + DYNAMIC))
        self.assertEqual(sorted(told["instances"]["web1.example.com"]), INSTANCE.split())
        self.assertEqual(sorted(told["nodegroups"]["group-uuid"]), GROUP.split())
        self.assertIn("memory-size", told["ipolicy"]["std"])
        self.assertIn("vcpu-ratio", told["nodegroups"]["group-uuid"]["ipolicy"])

    def test_silent_node(self) -> None:
        """A node of which nothing is known is as one that is offline, with its static keys only."""
        silent = self.document({})["nodes"]["node2.example.com"]
        self.assertEqual((sorted(silent), silent["offline"]), (STATIC, True))

    def test_not_for_instances(self) -> None:
        """Neither has one that cannot have instances more than those, whatever it tells."""
        nodes = {**samples.CONFIG.nodes, "node2-uuid": replace(samples.NODE2, vm_capable=False)}
        told = self.document({"node2.example.com": LOAD}, nodes=nodes)["nodes"]["node2.example.com"]
        self.assertEqual((sorted(told), told["offline"]), (STATIC, False))

    def test_one_group(self) -> None:
        """Only the nodes of one group, and the instances that are wholly in it; what others leave there is not free."""
        config = samples.CONFIG
        other = replace(samples.GROUP, uuid="rack2-uuid", name="rack2")
        state = InstanceViews(
            cluster=config.cluster,
            instances=tuple(config.instances.values()),
            disks=config.disks,
            nodes={**config.nodes, "node2-uuid": replace(samples.NODE2, group=other.uuid)},
            groups={**config.nodegroups, other.uuid: other},
            networks=config.networks,
        )
        told = msgspec.json.decode(document(state, {"node1.example.com": LOAD}, REQUEST, "group-uuid"))
        self.assertEqual((set(told["nodes"]), set(told["nodegroups"])), ({"node1.example.com"}, {"group-uuid"}))
        self.assertEqual(told["instances"], {})
        self.assertEqual(told["nodes"]["node1.example.com"]["i_pri_memory"], 128)
        self.assertEqual(
            set(msgspec.json.decode(document(state, {}, REQUEST, "rack2-uuid"))["nodes"]), {"node2.example.com"}
        )

    def test_memory_of_instances(self) -> None:
        """What an instance that should run does not use yet is not free; what is stopped needs nothing."""
        node = self.document({"node1.example.com": LOAD})["nodes"]["node1.example.com"]
        self.assertEqual((node["i_pri_memory"], node["i_pri_up_memory"], node["free_memory"]), (128, 128, 5872))
        load = attrs.evolve(LOAD, running={"web1.example.com": 100})
        self.assertEqual(self.document({"node1.example.com": load})["nodes"]["node1.example.com"]["free_memory"], 5972)

    def test_instance(self) -> None:
        """Its nodes, the primary one first; its disks with what they take besides."""
        told = self.document({})["instances"]["web1.example.com"]
        self.assertEqual(told["nodes"], ["node1.example.com", "node2.example.com"])
        self.assertEqual(told["disks"], [{"dev_type": "drbd", "size": 1024, "mode": "rw", "spindles": None}])
        self.assertEqual((told["disk_space_total"], told["admin_state"]), (1024 + 128, "up"))
        self.assertEqual(told["nics"][0]["bridge"], told["nics"][0]["link"])

    def test_requests(self) -> None:
        """A request has its type; nodes to choose from only where they are restricted."""
        told = self.document({})["request"]
        self.assertEqual((told["type"], told["group_name"]), ("allocate", None))
        self.assertNotIn("restrict-to-nodes", told)
        some = replace(REQUEST, restrict_to_nodes=["node1.example.com"])
        self.assertEqual(self.document({}, some)["request"]["restrict-to-nodes"], ["node1.example.com"])
        other = Relocate(name="web1.example.com", disk_space_total=1152, relocate_from=["node2.example.com"])
        self.assertEqual(self.document({}, other)["request"]["type"], "relocate")

    def test_no_secrets(self) -> None:
        """Private parameters and the secrets of mirrors are not told."""
        self.assertNotIn("s3cret", str(self.document({"node1.example.com": LOAD})))
