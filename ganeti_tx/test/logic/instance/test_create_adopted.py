"""Tests of making instances of what is there already, as if nodes had the drivers."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.enums import AdminState, DiskTemplate
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.rpc.calls.backup import ExportDescription, ExportInfo, ExportList
from ganeti_tx.rpc.calls.disk import BdevSizes, BlockdevCreate, BlockdevRename, FoundDevice
from ganeti_tx.rpc.calls.mirror import BlockdevSetinfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.stage import CLUSTER, CONFIG, INSTANCE, UnitTestCase

PLAIN, BLOCKDEV = DiskTemplate("plain"), DiskTemplate("blockdev")
DEVICE = "/dev/disk/by-id/lun0"


class AdoptionCase(UnitTestCase):
    """A node that has something to adopt."""

    initial = replace(
        CONFIG,
        cluster=replace(
            CLUSTER, volume_group_name="vg0", enabled_disk_templates=(*CLUSTER.enabled_disk_templates, BLOCKDEV)
        ),
    )

    def setUp(self) -> None:
        super().setUp()
        self.stage.templates = (*AVAILABLE, PLAIN, BLOCKDEV)
        self.nodes.succeed(BlockdevRename)
        self.nodes.succeed(BlockdevSetinfo)
        self.have({("vg0", "old"): 5120, ("vg1", "other"): 2048, ("manual", DEVICE): 1024})

    def have(self, devices: dict[tuple[str, str], int], in_use: bool = False, on: str | None = None) -> None:
        """What is on all nodes, or on one, with its size."""
        before = self.nodes.answers.get(BdevSizes)

        def found(node: str, call: Any) -> Any:
            if on not in (None, node) and before is not None:
                return before(node, call)
            return [FoundDevice(list(key), size, in_use) for key, size in devices.items() if list(key) in call.wanted]

        self.nodes.answers[BdevSizes] = found

    def disks(self) -> list[Disk]:
        """Those of the new instance."""
        snapshot = self.stage.snapshot
        (made,) = (held for held in snapshot.instances.values() if held.uuid != INSTANCE.uuid)
        return [snapshot.disks[uuid] for uuid in made.disks]

    def no(self, *disks: dict[str, Any], **changes: Any) -> str:
        """Why such disks are refused; nothing was done."""
        before = self.stage.snapshot
        text = self.refused(create(**{"disk_template": PLAIN, "disks": disks, **changes}), OpPrereqError)
        self.assertEqual(self.stage.snapshot, before)
        self.assertEqual(self.nodes.of_kind(BlockdevCreate) + self.nodes.of_kind(BlockdevRename), [])
        return text


class RenamedTests(AdoptionCase):
    """Volumes, which get the standard name."""

    def test_adopted(self) -> None:
        """Each has the size that it had, and a new name; nothing is installed, and what is on it is started."""
        self.run_op(create(disk_template=PLAIN, disks=({"adopt": "old"}, {"adopt": "other", "vg": "vg1", "size": 0})))
        first, second = self.disks()
        self.assertEqual((first.size, second.size), (5120, 2048))
        self.assertEqual(first.logical_id, ("vg0", f"{first.uuid}.disk0"))
        renames = self.nodes.of_kind(BlockdevRename)
        self.assertEqual([call.disk.logical_id for call in renames], [["vg0", "old"], ["vg1", "other"]])
        self.assertEqual([tuple(call.logical_id) for call in renames], [first.logical_id, second.logical_id])
        kinds = self.nodes.kinds()
        self.assertNotIn("instance_os_add", kinds)
        self.assertNotIn("blockdev_create", kinds)
        self.assertNotIn("os_validate", kinds)
        self.assertIn("instance_start", kinds)

    def test_room(self) -> None:
        """What is adopted has its room already."""
        full = StorageSpace("lvm-vg", "vg0", storage_size=8, storage_free=0)
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[full], hypervisors={"kvm": {"memory_free": 4096}}))
        self.run_op(create(disk_template=PLAIN, disks=({"adopt": "old"},)))
        self.nodes.sent.clear()
        self.assertIn(
            "not enough room in vg0", self.no({"size": 5120}, instance_name="web3", name_check=False, ip_check=False)
        )

    def test_given_back(self) -> None:
        """When the instance cannot be made, what it would have adopted has its name again."""

        def only_first(node: str, call: BlockdevRename) -> None:
            if "other" in (call.disk.logical_id or []):
                raise NodeCallError(f"node {node}: busy")

        self.nodes.answers[BlockdevRename] = only_first
        self.refused(
            create(disk_template=PLAIN, disks=({"adopt": "old"}, {"adopt": "other", "vg": "vg1"})), OpExecError
        )
        there, _, back = self.nodes.of_kind(BlockdevRename)
        self.assertEqual((back.disk.logical_id, back.logical_id), (there.logical_id, ["vg0", "old"]))

    def test_stopped(self) -> None:
        """It is not started if nobody wants that."""
        self.run_op(create(disk_template=PLAIN, disks=({"adopt": "old"},), start=False))
        self.assertNotIn("instance_start", self.nodes.kinds())
        (state,) = {held.admin_state for held in self.stage.snapshot.instances.values()}
        self.assertIs(state, AdminState.DOWN)

    def test_refused(self) -> None:
        """All disks or none, without a size, each once, from what can be adopted, and no data from elsewhere."""
        self.assertIn("all disks are adopted or none", self.no({"adopt": "old"}, {"size": 8}))
        self.assertIn("disk/0: size and adopt exclude each other", self.no({"adopt": "old", "size": 8}))
        self.assertIn("old is to be adopted by two disks", self.no({"adopt": "old"}, {"adopt": "old"}))
        text = self.no({"adopt": "/x"}, disk_template=DiskTemplate("file"))
        self.assertEqual(text, "Disk adoption is not supported for the 'file' disk template")
        self.nodes.answer(ExportList, ["web2.example.com"])
        text = "[export]\nversion=0\nos=busybox\n[instance]\nname=web2.example.com\n"
        self.nodes.answer(ExportInfo, ExportDescription("/export/web2.example.com", text))
        self.assertIn("import", self.no({"adopt": "old"}, mode=InstanceCreateMode.IMPORT))

    def test_allocator(self) -> None:
        """No allocator chooses the node of what is on one; it does for what all reach."""
        text = self.no({"adopt": "old"}, pnode=None, iallocator="hail")
        self.assertIn("Adopted disks are on one node, which must be given", text)

    def test_not_free(self) -> None:
        """What is not there, or in use, or another instance's, is not adopted."""
        self.assertIn("vg0/new cannot be adopted: node node2.example.com does not have it", self.no({"adopt": "new"}))
        self.have({("vg0", "old"): 5120}, in_use=True)
        self.assertIn("vg0/old cannot be adopted: it is in use on node node2.example.com", self.no({"adopt": "old"}))
        self.have({("vg0", "old"): 0})
        self.assertIn("less than 1 MiB", self.no({"adopt": "old"}))

    def test_policy(self) -> None:
        """The size that is found counts for what the group admits."""
        self.have({("vg0", "old"): 1 << 40})
        self.assertIn("policy", self.no({"adopt": "old"}))


class KeptTests(AdoptionCase):
    """Block devices, which keep their name and are on all nodes."""

    def create(self, **changes: Any) -> Any:
        """The opcode."""
        return create(**{"disk_template": BLOCKDEV, "disks": ({"adopt": DEVICE},), **changes})

    def test_adopted(self) -> None:
        """The path stays; other nodes of the group were asked for the same."""
        self.run_op(self.create())
        (disk,) = self.disks()
        self.assertEqual((disk.logical_id, disk.size, disk.nodes), (("manual", DEVICE), 1024, ()))
        self.assertEqual(self.nodes.of_kind(BlockdevRename), [])
        asked = [node for node, call in self.nodes.sent if isinstance(call, BdevSizes)]
        self.assertEqual(asked, ["node2.example.com", "node1.example.com"])

    def test_twice(self) -> None:
        """One device is one instance's."""
        self.run_op(self.create())
        self.nodes.sent.clear()
        text = self.no(
            {"adopt": DEVICE}, disk_template=BLOCKDEV, instance_name="web3", name_check=False, ip_check=False
        )
        self.assertEqual(text, f"{DEVICE} cannot be adopted: it is instance web2.example.com's")

    def test_other_name(self) -> None:
        """A device is one instance's, and one disk's, whatever it is called."""
        other = "/dev/disk/by-path/lun0"
        self.nodes.answers[BdevSizes] = lambda node, call: [
            FoundDevice(["manual", path], 1024, False, "8:16")
            for path in (DEVICE, other)
            if ["manual", path] in call.wanted
        ]
        text = self.no({"adopt": DEVICE}, {"adopt": other}, disk_template=BLOCKDEV)
        self.assertEqual(text, f"{other} cannot be adopted: it is the same device as {DEVICE}")
        self.run_op(self.create())
        self.nodes.sent.clear()
        text = self.no({"adopt": other}, disk_template=BLOCKDEV, instance_name="web3", name_check=False, ip_check=False)
        whose = f"instance web2.example.com's {DEVICE}"
        self.assertEqual(text, f"{other} cannot be adopted: it is the same device as {whose}")

    def test_elsewhere(self) -> None:
        """A path outside, and one that another node does not have, or not so large, is refused."""
        for path in ("/dev/sda", "/dev/disk/../sda", "/dev/disk", "old"):
            self.assertIn("give a path below /dev/disk", self.no({"adopt": path}, disk_template=BLOCKDEV))
        self.assertIn("disk/0: adopt is missing", self.no({"size": 8}, disk_template=BLOCKDEV))
        for other, reason in (({("manual", DEVICE): 8}, "sees 8 MiB, not 1024"), ({}, "does not have it")):
            self.have(other, on="node1.example.com")
            text = self.no({"adopt": DEVICE}, disk_template=BLOCKDEV)
            self.assertIn(f"node node1.example.com of the same group {reason}", text)

    def test_silent(self) -> None:
        """A node that cannot tell is warned of."""
        answer = self.nodes.answers[BdevSizes]

        def some(node: str, call: Any) -> Any:
            if node.startswith("node1"):
                raise OpExecError("out of order")
            return answer(node, call)

        self.nodes.answers[BdevSizes] = some
        self.run_op(self.create())
        self.assertTrue(any("node1.example.com does not tell" in line for line in self.stage.feedback))
