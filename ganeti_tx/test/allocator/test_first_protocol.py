"""What programs of the first protocol are told (reference: iallocator.json, version_1)."""

import json
from typing import Any

import msgspec
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.allocator.document import document
from ganeti_tx.allocator.first_protocol import as_first
from ganeti_tx.allocator.requests import NodeEvacuate, Relocate
from ganeti_tx.errors import OpExecError
from ganeti_tx.model.instance_view import InstanceViews
from ganeti_tx.test.allocator.test_document import LOAD, REQUEST
from ganeti_tx.test.model import samples

TOP = "cluster_name cluster_tags instances nodes request version"
INSTANCE = "disk_template disks memory nics nodes os should_run tags vcpus"
NODE = "free_disk free_memory primary_ip secondary_ip tags total_cpus total_disk total_memory"
ALLOCATE = "disk_space_total disk_template disks memory name nics os required_nodes tags type vcpus"
NIC = {"mac": "aa:00:00:00:00:02", "ip": None, "mode": "bridged", "link": "br0", "bridge": "br0"}
ROUTED = {"mac": "aa:00:00:00:00:03", "ip": "192.0.2.5", "mode": "routed", "link": "100"}


class FirstProtocolTests(SynchronousTestCase):
    """A cluster of two nodes with one mirrored instance."""

    def told(self, request: Any = REQUEST, **nodes: dict[str, Any]) -> dict[str, Any]:
        """The document; `nodes` are changes of nodes, by name."""
        config = samples.CONFIG
        changed = {uuid: replace(each, **nodes.get(each.name.split(".")[0], {})) for uuid, each in config.nodes.items()}
        state = InstanceViews(
            cluster=config.cluster,
            instances=tuple(config.instances.values()),
            disks=config.disks,
            nodes=changed,
            groups=config.nodegroups,
            networks=config.networks,
        )
        second = document(state, {f"node{number}.example.com": LOAD for number in (1, 2)}, request)
        read: dict[str, Any] = json.loads(as_first(second.decode()))
        return read

    def test_keys(self) -> None:
        """Every object has all keys of the table, and no others."""
        told = self.told()
        self.assertEqual((sorted(told), told["version"]), (TOP.split(), 1))
        self.assertEqual(sorted(told["nodes"]["node1.example.com"]), NODE.split())
        web1 = told["instances"]["web1.example.com"]
        self.assertEqual(sorted(web1), INSTANCE.split())
        self.assertEqual(web1["nodes"], ["node1.example.com", "node2.example.com"])
        self.assertEqual(web1["disks"], [{"mode": "w", "size": 1024}])
        self.assertEqual(sorted(told["request"]), ALLOCATE.split())

    def test_requests(self) -> None:
        """A new instance, and one that is to leave a node; others it does not have."""
        new = self.told(replace(REQUEST, nics=[NIC, ROUTED], disks=[{"size": 5, "mode": "ro"}]))["request"]
        self.assertEqual(new["nics"][0], {"mac": "aa:00:00:00:00:02", "ip": None, "bridge": "br0"})
        self.assertEqual(new["nics"][1], {"mac": "aa:00:00:00:00:03", "ip": "192.0.2.5", "bridge": None})
        self.assertEqual(new["disks"], [{"size": 5, "mode": "r"}])
        leave = Relocate(name="web1.example.com", disk_space_total=1152, relocate_from=["node2.example.com"])
        self.assertEqual(self.told(leave)["request"], msgspec.to_builtins(leave))
        evacuate = NodeEvacuate(instances=["web1.example.com"], evac_mode="all")
        error = self.assertRaises(OpExecError, self.told, evacuate)
        self.assertEqual(str(error), "protocol 1 has no requests of kind node-evacuate, only allocate, relocate")

    def test_nodes(self) -> None:
        """It has no word for a node that must not be chosen, and so is told of others only."""
        for change in ({"offline": True}, {"drained": True}, {"vm_capable": False}):
            self.assertEqual(list(self.told(node2=change)["nodes"]), ["node1.example.com"], change)
        among = replace(REQUEST, restrict_to_nodes=["node2.example.com"])
        self.assertEqual(list(self.told(among)["nodes"]), ["node2.example.com"])
