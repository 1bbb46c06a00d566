"""Node calls about mirrors, in the order in which operations on disks send them."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.rpc.calls.disk import (
    BlockdevCreate,
    BlockdevFind,
    BlockdevGrow,
    BlockdevRemove,
    BlockdevRename,
    BlockdevShutdown,
)
from ganeti_tx.rpc.calls.mirror import (
    BlockdevAddchildren,
    BlockdevClose,
    BlockdevGetmirrorstatus,
    BlockdevOpen,
    BlockdevPauseResumeSync,
    BlockdevRemovechildren,
    BlockdevSetinfo,
    BlockdevSnapshot,
    DrbdAttachNet,
    DrbdDisconnectNet,
    DrbdNeedsActivation,
    DrbdWaitSync,
)
from ganeti_tx.test.node.disk_case import LINK, OWNER, DiskCase


class MirrorTests(DiskCase):
    """A mirror between two nodes."""

    def write(self, node: int, content: str) -> None:
        """What an instance writes."""
        self.homes[node].mirrors.write(self.mirror(node), content)

    def read(self, node: int) -> str:
        """What it reads."""
        return self.homes[node].mirrors.read(self.mirror(node))

    def on_both(self, kind: Any, **fields: Any) -> list[Any]:
        """A call about the mirror to each node."""
        return [self.call(node, kind(disks=[self.mirror(node)], **fields)) for node in (0, 1)]

    def done(self) -> list[bool]:
        """By node."""
        return [each.done for each in self.on_both(DrbdWaitSync)]

    def volumes(self, node: int) -> dict[str, DiskSpec]:
        """Those below the mirror."""
        return {child.uuid: child for child in self.mirror(node).children}

    def test_new(self) -> None:
        """Made and assembled on both nodes, named on the primary one, and filled from there while its progress is told."""
        for node in (1, 0):
            self.create(node, self.mirror(node))
        self.assertEqual(self.on_both(DrbdNeedsActivation), [["d0"], ["d0"]])
        for node in (1, 0):
            self.assemble(node, self.mirror(node))
        self.assertEqual(self.on_both(DrbdNeedsActivation), [[], []])
        self.assertEqual((self.links(0), self.links(1)), ({LINK: "/dev/drbd0"}, {}))
        self.assertEqual(self.done(), [False, False])
        self.clock.advance(1)
        self.assertEqual([each.percent for each in self.on_both(DrbdWaitSync)], [50.0, 50.0])
        self.on_both(BlockdevPauseResumeSync, pause=True)
        self.clock.advance(1)
        self.assertEqual([each.percent for each in self.on_both(DrbdWaitSync)], [50.0, 50.0])
        self.on_both(BlockdevPauseResumeSync, pause=False)
        self.clock.advance(1)
        self.assertEqual(self.done(), [True, True])

    def test_gone(self) -> None:
        """Removing takes every level on its node, and the name; again it does no harm."""
        self.mirrored()
        for node in (0, 1, 0, 1):
            self.call(node, BlockdevRemove(disk=self.mirror(node), owner=OWNER))
            self.assertEqual((self.homes[node].files.disks, self.homes[node].volumes.disks), ({}, {}))
            self.assertEqual((self.homes[node].devices.behind, self.links(node)), ({}, {}))

    def test_failover(self) -> None:
        """The source goes down, then the other node is primary and has the name."""
        self.mirrored()
        self.write(0, "letters")
        self.call(0, BlockdevShutdown(disk=self.mirror(0), owner=OWNER))
        self.call(1, BlockdevOpen(instance_name=OWNER, disks=[self.mirror(1)]))
        self.assertEqual((self.links(0), self.links(1)), ({}, {LINK: "/dev/drbd10"}))
        self.assertEqual(self.read(1), "letters")

    def test_migration(self) -> None:
        """Both are primary while the instance moves, and one afterwards (reference: storage-rules.json, migration)."""
        self.mirrored()
        self.write(0, "letters")
        self.on_both(DrbdDisconnectNet)
        self.on_both(DrbdAttachNet, multimaster=True)
        self.assertEqual(self.done(), [True, True])
        self.call(1, BlockdevOpen(instance_name=OWNER, disks=[self.mirror(1)], exclusive=False))
        self.write(1, "more letters")
        self.assertEqual(self.read(0), "more letters")
        self.call(0, BlockdevClose(instance_name=OWNER, disks=[self.mirror(0)]))
        self.on_both(DrbdDisconnectNet)
        self.on_both(DrbdAttachNet, multimaster=False)
        self.assertEqual(self.done(), [True, True])
        self.refused(0, BlockdevOpen(instance_name=OWNER, disks=[self.mirror(0)]))
        self.assertEqual((self.links(0), self.links(1)), ({}, {LINK: "/dev/drbd10"}))

    def test_replaced_disks(self) -> None:
        """New volumes take the place of old ones on one node (reference: storage-rules.json, steps_same_node)."""
        self.mirrored()
        self.write(0, "letters")
        self.call(0, BlockdevRemovechildren(disk=self.mirror(0)))
        old = []
        for name, volume in self.volumes(0).items():
            old.append(["xenvg", f"{name}_replaced"])
            self.call(0, BlockdevRename(disk=volume, owner=OWNER, logical_id=old[-1]))
            fresh = replace(volume, children=[])
            self.call(0, BlockdevCreate(disk=fresh, owner=OWNER))
        fresh_mirror = replace(
            self.mirror(0), children=[replace(each, children=[]) for each in self.volumes(0).values()]
        )
        self.call(0, BlockdevAddchildren(disk=fresh_mirror))
        self.assertEqual(self.call(0, BlockdevFind(disk=fresh_mirror)).ldisk_status, LocalDiskStatus.SYNC)
        self.clock.advance(1000)
        self.assertTrue(self.call(0, DrbdWaitSync(disks=[fresh_mirror])).done)
        for volume, logical_id in zip(self.volumes(0).values(), old, strict=True):
            self.call(0, BlockdevRemove(disk=replace(volume, logical_id=logical_id), owner=OWNER))
        self.assertEqual(self.read(0), "letters")
        self.assertEqual(self.homes[0].volumes.disks["xenvg/d0_data"].content, "letters")

    def test_done_twice(self) -> None:
        """What takes an exchange of volumes back can be done twice: renaming, and attaching what is attached."""
        self.mirrored()
        self.call(0, BlockdevAddchildren(disk=self.mirror(0)))
        self.call(0, BlockdevRemovechildren(disk=self.mirror(0)))
        self.call(0, BlockdevRemovechildren(disk=self.mirror(0)))
        volume = self.volumes(0)["d0_data"]
        for _ in range(2):
            self.call(0, BlockdevRename(disk=volume, owner=OWNER, logical_id=["xenvg", "aside"]))
        aside = replace(volume, logical_id=["xenvg", "aside"])
        for _ in range(2):
            self.call(0, BlockdevRename(disk=aside, owner=OWNER, logical_id=["xenvg", "d0_data"]))
        self.refused(0, BlockdevRename(disk=aside, owner=OWNER, logical_id=["xenvg", "nothing"]))
        for _ in range(2):
            self.call(0, BlockdevAddchildren(disk=self.mirror(0)))

    def test_other_partner(self) -> None:
        """A mirror that is connected anew looks where it is told now."""
        self.mirrored()
        here = self.mirror(0)
        assert here.ends is not None
        moved = replace(here, ends=replace(here.ends, peer_address="198.51.100.3", peer_minor=5))
        self.call(0, DrbdDisconnectNet(disks=[here]))
        self.call(0, DrbdAttachNet(disks=[moved], multimaster=False))
        self.assertTrue(self.call(0, BlockdevFind(disk=moved)).is_degraded)
        self.call(0, DrbdDisconnectNet(disks=[moved]))
        self.call(0, DrbdAttachNet(disks=[here], multimaster=False))
        self.assertFalse(self.call(0, BlockdevFind(disk=here)).is_degraded)

    def test_grown(self) -> None:
        """The volumes on both nodes first, then the mirror; it is not larger before."""
        self.mirrored()
        for node in (0, 1):
            self.call(node, BlockdevGrow(disk=self.mirror(node), amount=4))
            self.assertEqual(self.call(node, BlockdevFind(disk=self.mirror(node))).size, 8)
        self.call(0, BlockdevGrow(disk=self.mirror(0), amount=4, backing_store=False))
        states = [self.call(node, BlockdevGetmirrorstatus(disks=[self.mirror(node)])) for node in (0, 1)]
        self.assertEqual([state.size for (state,) in states], [12, 12])
        self.assertEqual(self.homes[1].volumes.disks["xenvg/d0_meta"].size, 4)

    def test_degraded(self) -> None:
        """Without its other side a mirror is degraded, and not done; both nodes tell."""
        self.mirrored()
        self.call(1, BlockdevShutdown(disk=self.mirror(1), owner=OWNER))
        self.assertTrue(self.call(0, BlockdevFind(disk=self.mirror(0))).is_degraded)
        self.assertEqual(self.call(0, DrbdWaitSync(disks=[self.mirror(0)])).percent, 0.0)
        self.assertEqual(self.call(1, DrbdNeedsActivation(disks=[self.mirror(1)])), ["d0"])

    def test_other_disks(self) -> None:
        """A disk that is no mirror is told apart; being opened and closed it only gets and loses its name."""
        disk = self.file()
        self.create(0, disk)
        self.refused(0, DrbdWaitSync(disks=[disk]))
        self.refused(0, BlockdevSnapshot(disk=disk, snap_name="snap", snap_size=8))
        self.call(0, BlockdevOpen(instance_name=OWNER, disks=[disk]))
        self.assertEqual(self.links(), {LINK: f"/srv/{OWNER}/disk0"})
        self.call(0, BlockdevClose(instance_name=OWNER, disks=[disk]))
        self.assertEqual(self.links(), {})

    def test_snapshot_and_owner(self) -> None:
        """The data volume has the snapshot, and every volume the mark."""
        self.mirrored()
        call = BlockdevSnapshot(disk=self.mirror(0), snap_name="snap", snap_size=8)
        self.assertEqual(self.call(0, call), ["xenvg", "d0_data.snap"])
        self.call(0, BlockdevSetinfo(disk=self.mirror(0), owner="web2.example.com"))
        marks = {self.homes[0].volumes.disks[f"xenvg/{name}"].owner for name in self.volumes(0)}
        self.assertEqual(marks, {"originstname+web2.example.com"})

    def test_elsewhere(self) -> None:
        """A node that has no end of a mirror says so."""
        call = BlockdevFind(disk=replace(self.mirror(0), ends=None))
        self.assertIn("no end on this node", self.refused(0, call, BlockDeviceError))

    def test_no_secret_in_words(self) -> None:
        """Neither errors nor what is printed of a call have the secret."""
        call = BlockdevShutdown(disk=replace(self.mirror(0), ends=None), owner=OWNER)
        self.assertNotIn("secret", self.refused(0, call) + repr(call))
