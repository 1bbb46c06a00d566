"""Where an instance and its disks are, changed at once."""

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.claims import PORT
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.disk import Disk, place_of
from ganeti_tx.test.config.stores import config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model.samples import CONFIG, DISK, INSTANCE, NODE, NODE2


class PlaceTests(SynchronousTestCase):
    """One instance with a mirrored disk on two nodes."""

    def setUp(self) -> None:
        third = replace(NODE2, uuid="n3", name="node3.example.com", primary_ip="192.0.2.13", secondary_ip="192.0.2.13")
        group = next(iter(CONFIG.nodegroups.values()))
        groups = {group.uuid: replace(group, members=(*group.members, third.uuid))}
        nodes = {**CONFIG.nodes, third.uuid: replace(third, master_candidate=False)}
        self.config = config_of(loaded(MemoryFiles(), replace(CONFIG, nodes=nodes, nodegroups=groups)), Reservations())

    def disk(self) -> Disk:
        """As it is configured."""
        return self.config.session.store.snapshot.disks[DISK.uuid]

    def test_mirror_moves(self) -> None:
        """Nodes and minors are those given, of its parts, too; port and secret stay; done twice it changes nothing."""
        first, _ = DISK.nodes
        place = replace(place_of(DISK), nodes=(first, "n3"), minors=(DISK.minors[0][1], 7))
        for _ in range(2):
            self.successResultOf(
                Deferred.fromCoroutine(self.config.place_instance(INSTANCE.uuid, INSTANCE.primary_node, [place]))
            )
        disk = self.disk()
        self.assertEqual((disk.mirrors, disk.minors[1], disk.nodes), ((first, "n3"), ("n3", 7), (first, "n3")))
        self.assertEqual({child.nodes for child in disk.children}, {(first, "n3")})
        self.assertEqual((disk.secrets, disk.ports), (DISK.secrets, DISK.ports))
        self.assertEqual(disk.serial_no, DISK.serial_no + 1)

    def test_port(self) -> None:
        """Another port is taken out of the pool; the old one is its owner's until that ends. None given: it stays."""
        (old,), reserved = DISK.ports, self.config.session.reservations
        port = self.successResultOf(Deferred.fromCoroutine(self.config.allocate_port()))
        for given, found in (((port,), port), ((), port), ((old,), old)):
            place = replace(place_of(DISK), ports=given)
            self.successResultOf(
                Deferred.fromCoroutine(self.config.place_instance(INSTANCE.uuid, INSTANCE.primary_node, [place]))
            )
            self.assertEqual(self.disk().ports, (found,))
            self.assertEqual(reserved.values(PORT), {old, port} - {found})

    def test_size(self) -> None:
        """Parts that have the size of the whole have the new one."""
        place = replace(place_of(DISK), size=DISK.size * 2)
        self.successResultOf(
            Deferred.fromCoroutine(self.config.place_instance(INSTANCE.uuid, INSTANCE.primary_node, [place]))
        )
        self.assertEqual([child.size for child in self.disk().children], [DISK.size * 2, DISK.children[1].size])

    def test_elsewhere(self) -> None:
        """An instance cannot be where its disks are not."""
        self.assertIn(NODE.uuid, DISK.nodes)
        self.failureResultOf(
            Deferred.fromCoroutine(self.config.place_instance(INSTANCE.uuid, "n3", [])), ConfigurationError
        )
