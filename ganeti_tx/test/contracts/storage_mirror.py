"""What storages keep that mirror disks between two nodes: mixed into a `StorageContract`."""

from typing import Any

from msgspec.structs import replace
from zope.interface.verify import verifyObject

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.mirror_state import why_apart
from ganeti_tx.model.status import BlockDevStatus, LocalDiskStatus
from ganeti_tx.node.storage.abilities import IMirror
from ganeti_tx.test.contracts.storage import StorageContract


class MirrorContract(StorageContract):
    """IMirror: two nodes, the first of which is primary."""

    def split(self) -> None:
        """Cut the network between the nodes."""
        raise NotImplementedError

    def mend(self) -> None:
        """Take that back."""
        raise NotImplementedError

    def meet(self) -> None:
        """Let pass the time that two sides which are up need to find each other."""

    def miss(self) -> None:
        """Let pass the time that a side needs to notice that the other is gone."""

    def pass_some_time(self) -> None:
        """Let some, but not all, of a synchronisation be done."""
        raise NotImplementedError

    def lose_power(self, node: int) -> None:
        """A node is off and on again; what was ready on it is not."""
        raise NotImplementedError

    def write(self, node: int, content: str) -> None:
        """What an instance on a node writes."""
        raise NotImplementedError

    def read(self, node: int) -> str:
        """What an instance on a node reads."""
        raise NotImplementedError

    def status(self, node: int) -> BlockDevStatus:
        """As a node sees the disk."""
        return self.get(self.nodes[node].found(self.disk(node=node)))

    def degraded(self) -> list[bool]:
        """By node."""
        return [self.status(node).is_degraded for node in (0, 1)]

    def on(self, node: int) -> tuple[Any, DiskSpec]:
        """The mirrors of a node, and the disk as it knows it."""
        disk = self.disk(node=node)
        return self.nodes[node].mirror(disk), disk

    def in_sync(self) -> None:
        """A disk that is ready and alike on both nodes."""
        self.create()
        self.assemble()
        self.settle()

    def switch(self, old: int, new: int) -> None:
        """Another node becomes primary."""
        mirror, disk = self.on(old)
        self.get(mirror.become_secondary(disk))
        mirror, disk = self.on(new)
        self.get(mirror.become_primary(disk))

    def children_ready(self, node: int) -> list[bool]:
        """Whether each device below is assembled."""
        tree, todo, found = self.nodes[node], list(self.disk(node=node).children), []
        while todo:
            child = todo.pop(0)
            found.append(self.get(tree.of(child).is_ready(child)))
            todo.extend(child.children)
        return found

    def test_ability(self) -> None:
        """It provides IMirror."""
        self.assertTrue(verifyObject(IMirror, self.store))

    def test_children_below(self) -> None:
        """What a mirror is made of is ready below it on both nodes, and goes down after it."""
        self.in_sync()
        for node in (0, 1):
            self.assertEqual(set(self.children_ready(node)), {True})
            self.get(self.nodes[node].shutdown(self.disk(node=node)))
            self.assertEqual(set(self.children_ready(node)), {False})

    def test_child_in_use(self) -> None:
        """A device under another cannot be taken down."""
        self.in_sync()
        self.refused(self.tree.shutdown(self.disk().children[0]))
        self.assertEqual(self.degraded(), [False, False])

    def test_first_synchronisation(self) -> None:
        """A new mirror is filled from its primary node, and tells how far it is."""
        self.create()
        self.assemble()
        self.assertEqual(self.degraded(), [True, True])
        self.assertEqual(
            [self.status(node).ldisk_status for node in (0, 1)], [LocalDiskStatus.OK, LocalDiskStatus.SYNC]
        )
        told = [self.status(0).sync_percent]
        for _ in range(2):
            self.pass_some_time()
            told.append(self.status(0).sync_percent)
        self.assertEqual(told, sorted(told, key=lambda percent: percent or 0.0))
        self.assertGreater(told[-1] or 0.0, told[0] or 0.0)
        self.settle()
        self.assertEqual(self.degraded(), [False, False])

    def test_paused(self) -> None:
        """A synchronisation that is held up gets no further until it may."""
        self.create()
        self.assemble()
        mirror, disk = self.on(0)
        self.get(mirror.pause_sync(disk, True))
        before = self.status(0).sync_percent
        self.settle()
        self.assertEqual(self.status(0).sync_percent, before)
        self.get(mirror.pause_sync(disk, False))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])

    def test_written_to_both(self) -> None:
        """What the primary node writes is there when the other one takes over."""
        self.in_sync()
        self.write(0, "letters")
        self.switch(0, 1)
        self.assertEqual(self.read(1), "letters")

    def test_one_primary(self) -> None:
        """While one side is primary the other cannot be, unless both are allowed to, for a migration."""
        self.in_sync()
        mirror, disk = self.on(1)
        self.refused(mirror.become_primary(disk))
        for node in (0, 1):
            mirror, disk = self.on(node)
            self.get(mirror.disconnect(disk))
        for node in (0, 1):
            mirror, disk = self.on(node)
            self.get(mirror.connect(disk, True))
        mirror, disk = self.on(1)
        self.get(mirror.become_primary(disk, False))
        self.write(1, "moved")
        self.assertEqual(self.read(0), "moved")
        self.assertEqual(self.degraded(), [False, False])

    def test_alone(self) -> None:
        """A primary side goes on alone; the other is filled again when it is back, and cannot be primary till then."""
        self.in_sync()
        self.lose_power(1)
        self.miss()
        self.assertTrue(self.status(0).is_degraded)
        self.write(0, "meanwhile")
        self.get(self.nodes[1].assemble(self.disk(node=1), False))
        self.meet()
        status = self.status(0)
        self.assertIsNotNone(status.sync_percent, status)
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.switch(0, 1)
        self.assertEqual(self.read(1), "meanwhile")

    def test_failover(self) -> None:
        """When the primary node is lost the other takes over, and fills it again when it is back."""
        self.in_sync()
        self.write(0, "letters")
        self.lose_power(0)
        mirror, disk = self.on(1)
        self.get(mirror.become_primary(disk))
        self.assertEqual(self.read(1), "letters")
        self.write(1, "more letters")
        self.get(self.nodes[0].assemble(self.disk(node=0), False))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.switch(1, 0)
        self.assertEqual(self.read(0), "more letters")

    def test_not_up_to_date(self) -> None:
        """A side that was being filled does not become primary without the other."""
        self.create()
        self.assemble()
        self.pass_some_time()
        self.split()
        mirror, disk = self.on(1)
        self.refused(mirror.become_primary(disk))

    def test_split_network(self) -> None:
        """A cut network leaves both sides degraded; when it is mended the one that went on fills the other."""
        self.in_sync()
        self.split()
        self.assertEqual(self.degraded(), [True, True])
        self.write(0, "during")
        self.mend()
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.switch(0, 1)
        self.assertEqual(self.read(1), "during")

    def test_both_went_on(self) -> None:
        """Two sides that both went on alone do not come together again by themselves, and keep what each has."""
        self.in_sync()
        self.split()
        mirror, disk = self.on(1)
        self.get(mirror.become_primary(disk))
        self.write(0, "one")
        self.write(1, "other")
        self.mend()
        self.settle()
        self.assertEqual(self.degraded(), [True, True])
        self.assertEqual([self.read(0), self.read(1)], ["one", "other"])
        one, other = (self.status(node).mirror for node in (0, 1))
        assert one is not None and other is not None
        for text in (why_apart(one, other), why_apart(other, one)):
            self.assertIn("split brain", text)
        # The side that finds it out first hangs up; the other may know no more than that, and goes on looking for it.
        self.assertIn("StandAlone", (one.connection, other.connection))

    def test_one_gives_up(self) -> None:
        """Of two sides that both went on one gives up what it has, unless it is primary, and is filled from the other."""
        self.in_sync()
        self.split()
        (one, here), (other, there) = self.on(0), self.on(1)
        self.get(other.become_primary(there))
        self.write(0, "one")
        self.write(1, "other")
        self.mend()
        self.settle()
        self.refused(other.connect(there, both_primary=False, discard=True))
        self.get(other.become_secondary(there))
        self.get(other.connect(there, both_primary=False, discard=True))
        self.get(one.connect(here, both_primary=False))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.switch(0, 1)
        self.assertEqual(self.read(1), "one")

    def test_without_own_part(self) -> None:
        """A side can lose its volumes: it goes on with the other's data, says so, and is filled again when it gets new ones."""
        self.in_sync()
        self.write(0, "letters")
        for _ in range(2):
            self.get(self.tree.detach_children(self.disk()))
        self.assertEqual(self.status(0).ldisk_status, LocalDiskStatus.FAULTY)
        self.assertEqual(set(self.children_ready(0)), {False})
        self.assertEqual(self.read(0), "letters")
        self.write(0, "more letters")
        self.get(self.tree.attach_children(self.disk()))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.get(self.nodes[1].shutdown(self.disk(node=1)))
        self.assertEqual(self.read(0), "more letters")

    def test_new_volumes(self) -> None:
        """A side that lost its volumes gets new ones, and these all that the other side has."""
        self.in_sync()
        self.write(0, "letters")
        self.get(self.tree.detach_children(self.disk()))
        for child in self.disk().children:
            self.get(self.tree.remove(child))
            self.get(self.tree.create(child, "web1"))
        self.get(self.tree.attach_children(self.disk()))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.get(self.nodes[1].shutdown(self.disk(node=1)))
        self.assertEqual(self.read(0), "letters")

    def test_missing_peer(self) -> None:
        """A side with good data becomes primary when it is assembled, though the other side is not up."""
        self.in_sync()
        self.write(0, "letters")
        for node in (0, 1):
            self.get(self.nodes[node].shutdown(self.disk(node=node)))
        status = self.get(self.tree.assemble(self.disk(), True))
        self.assertEqual((status.is_degraded, status.ldisk_status), (True, LocalDiskStatus.OK))
        self.assertEqual(self.read(0), "letters")

    def test_own_part_is_back(self) -> None:
        """A side that goes on without its own part takes it when it is assembled again."""
        self.in_sync()
        self.get(self.tree.detach_children(self.disk()))
        self.write(0, "letters")
        self.assertFalse(self.get(self.tree.is_whole(self.disk())))
        self.get(self.tree.assemble(self.disk(), True))
        self.assertTrue(self.get(self.tree.is_whole(self.disk())))
        self.settle()
        self.assertEqual(self.degraded(), [False, False])
        self.assertEqual(self.read(0), "letters")

    def test_last_copy(self) -> None:
        """The last good copy is not taken away."""
        self.in_sync()
        self.lose_power(1)
        self.miss()
        self.refused(self.tree.detach_children(self.disk()))
        self.assertEqual(self.status(0).ldisk_status, LocalDiskStatus.OK)

    def test_all_down(self) -> None:
        """A node takes down all that it has, whoever's it is; the other side goes on, and is followed again later."""
        self.in_sync()
        mirrors, disk = self.on(1)
        for _ in range(2):
            self.assertEqual(self.get(mirrors.all_down()), [])
            self.assertFalse(self.get(mirrors.is_ready(disk)))
        self.write(0, "letters")
        self.get(self.nodes[1].assemble(disk, False))
        self.settle()
        self.assertEqual((self.degraded(), self.read(0)), ([False, False], "letters"))

    def test_volume_is_gone(self) -> None:
        """A side of which a volume is gone is assembled without its own part, if the other has the data."""
        self.in_sync()
        for node in (0, 1):
            self.get(self.nodes[node].shutdown(self.disk(node=node)))
        self.get(self.tree.remove(self.disk().children[0]))
        self.refused(self.tree.assemble(self.disk(), True))
        self.assertEqual(set(self.children_ready(0)), {False})
        self.get(self.nodes[1].assemble(self.disk(node=1), False))
        self.get(self.tree.assemble(self.disk(), True))
        self.assertEqual(self.status(0).ldisk_status, LocalDiskStatus.FAULTY)
        self.assertFalse(self.get(self.tree.is_whole(self.disk())))
        self.assertTrue(self.get(self.nodes[1].is_whole(self.disk(node=1))))

    def test_secrets(self) -> None:
        """Sides that do not know the same secret do not come together; removing needs none."""
        self.create()
        other = self.disk(node=1)
        assert other.logical_id is not None
        wrong = replace(other, logical_id=[*other.logical_id[:-1], "wrong"])
        self.get(self.nodes[1].assemble(wrong, False))
        self.refused(self.tree.assemble(self.disk(), True))
        for node in (0, 1):
            disk = self.disk(node=node)
            assert disk.logical_id is not None
            self.get(self.nodes[node].remove(replace(disk, logical_id=[*disk.logical_id[:-1], "<hidden>"])))
            self.assertIsNone(self.get(self.nodes[node].find(disk)))
