"""Tests of asking an allocator for nothing that is done."""

import json
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.debug.allocator import MOST_AT_ONCE
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes.test import OpTestAllocator
from ganeti_tx.model.opcodes.types import AllocatorDirection, AllocatorMode, NicKey
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.logic.instance.test_create_by_allocator import MEMORY, SPACE
from ganeti_tx.test.logic.network.test_networks import CONNECTED, LAN, NetworkCase
from ganeti_tx.test.logic.stage import GROUP, RACK2, UnitTestCase

ROUTED = {"mode": "routed", "link": "100", "vlan": ""}


def asking(mode: AllocatorMode, **given: Any) -> OpTestAllocator:
    """What an allocator would be told of a new instance."""
    asked: dict[str, Any] = {
        "disk_template": DiskTemplate.FILE,
        "disks": ({"size": 1024},),
        "nics": (),
        "memory": 128,
        "vcpus": 1,
        "os": "noop",
        **given,
    }
    return OpTestAllocator(direction=AllocatorDirection.IN, mode=mode, name="new.example.com", **asked)


class AllocatorTests(UnitTestCase):
    """OP_TEST_ALLOCATOR for new instances."""

    def wrong(self, reason: str, **given: Any) -> None:
        """It is refused as wrong input."""
        self.assertIn(reason, self.refused(asking(AllocatorMode.MULTI_ALLOCATE, **given), OpPrereqError))

    def test_disks(self) -> None:
        """The opcode's type takes any JSON for a disk; what is no object is refused by its place."""
        for disk, shown in ((1, "1"), ([], "[]"), ([0, {}], "[0, {}]"), (None, "null"), ("size", '"size"')):
            self.wrong(f"disk/1: expected an object, got {shown}", disks=({"size": 1024}, disk))

    def test_count(self) -> None:
        """The document has each of them, so that there is a limit."""
        self.wrong(f"count is 1000000000; allowed are 0 to {MOST_AT_ONCE}", count=1_000_000_000)


class NetworkTests(NetworkCase):
    """What it is told of interfaces in networks: web1 is in lan, to which the default group is connected."""

    def told(self, **given: Any) -> Any:
        """The document for a new instance in lan."""
        self.stage.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[SPACE], hypervisors={"kvm": MEMORY}))
        self.stage.nodes.answer(AllInstancesInfo, {})
        nics = ({NicKey.NETWORK: "lan", NicKey.IP: "pool"},)
        return json.loads(self.run_op(asking(AllocatorMode.ALLOCATE, nics=nics, **given)))

    def connect_rack2(self, params: dict[str, str]) -> None:
        """Another group is connected, too."""
        groups = {**CONNECTED.nodegroups, RACK2.uuid: replace(RACK2, networks={LAN.uuid: params})}
        self.stage = self.make_stage(replace(CONNECTED, nodegroups=groups))

    def test_connected(self) -> None:
        """The network, and how it is connected; of instances that are there, too."""
        told = self.told()
        wanted = {"mode": "bridged", "link": "br0", "bridge": "br0", "network": LAN.uuid}
        self.assertEqual(told["request"]["nics"], [{"mac": "auto", "ip": None, **wanted}])
        [nic] = told["instances"]["web1.example.com"]["nics"]
        self.assertEqual({name: nic[name] for name in wanted}, wanted)

    def test_as_the_group(self) -> None:
        """Connected otherwise elsewhere, it is told as in the group that is asked for; else nobody knows yet."""
        self.connect_rack2(ROUTED)
        self.assertEqual(
            self.told()["request"]["nics"],
            [{"mac": "auto", "ip": None, "mode": None, "link": None, "network": LAN.uuid}],
        )
        [nic] = self.told(group_name=RACK2.uuid)["request"]["nics"]
        self.assertEqual((nic["mode"], nic["link"]), ("routed", "100"))
        [nic] = self.told(group_name=GROUP.name)["request"]["nics"]
        self.assertEqual((nic["mode"], nic["link"]), ("bridged", "br0"))
