"""Named changes through one owner's configuration: checked, accounted for, refused with a reason."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError, OpPrereqError, ReservationError, TagError
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.enums import AdminState, AdminStateSource, DiskTemplate, TagKind
from ganeti_tx.test.config.stores import CONFIG, OTHER, config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.model.samples import DISK, FILTER, GROUP, INSTANCE, NETWORK, NIC, NODE, NODE2, VOLUME

T = TypeVar("T")

NEW_DISK = replace(VOLUME, uuid="new-disk", logical_id=("xenvg", "new"), nodes=(NODE.uuid,))
NEW = replace(
    INSTANCE,
    uuid="new-uuid",
    name="web2.example.com",
    disks=(),
    nics=(replace(NIC, uuid="n2", mac="aa:00:00:00:00:02"),),
)


class ChangeCase(SynchronousTestCase):
    """After every test the configuration is sound."""

    def setUp(self) -> None:
        self.store = loaded(MemoryFiles())
        self.reservations = Reservations()
        self.config: Any = config_of(self.store, self.reservations)
        self.other: Any = config_of(self.store, self.reservations, OTHER, seed=2)

    def tearDown(self) -> None:
        self.assertEqual(verify(self.store.snapshot), [])

    def begin(self, work: Coroutine[Any, Any, T]) -> "Deferred[T]":
        """Start something that takes no time."""
        return Deferred.fromCoroutine(work)

    def done(self, work: Coroutine[Any, Any, T]) -> T:
        """The result."""
        return self.successResultOf(self.begin(work))

    def refused(self, work: Coroutine[Any, Any, Any], kind: type[Exception], words: str) -> None:
        """It fails and nothing has changed."""
        before = self.store.snapshot
        error = self.failureResultOf(self.begin(work), kind).value
        self.assertIn(words, str(error))
        self.assertIs(self.store.snapshot, before)


class ChangeTests(ChangeCase):
    """Instances, disks, nodes, groups, networks and the cluster."""

    def test_networks_of_renamed_cluster(self) -> None:
        """Networks keep the cluster's new address from instances in the place of its former one, and back."""
        former = self.store.snapshot.cluster.master_ip
        network = replace(
            NETWORK, uuid="around", name="around", gateway=None, network=f"{former.rpartition('.')[0]}.0/24"
        )
        network = AddressPool(AddressPool(network).with_own_addresses()).reserving(former)
        self.done(self.config.add_network(network))
        address = former.rpartition(".")[0] + ".77"
        for of, free in ((address, former), (former, address)):
            self.done(self.config.rename_cluster("cluster9.example.com", of))
            pool = AddressPool(self.store.snapshot.networks["around"])
            self.assertEqual((pool.is_external(of), pool.is_external(free)), (True, False))

    def test_add_and_remove_instance(self) -> None:
        """An instance comes with its disks and goes with them; its port leaves the pool and returns."""
        port = self.done(self.config.allocate_port())
        self.done(self.config.add_instance(replace(NEW, network_port=port), [NEW_DISK]))
        held = self.done(self.config.instance("web2"))
        self.assertEqual((held.serial_no, held.disks), (1, ("new-disk",)))
        self.assertGreater(held.ctime, 0)
        self.assertEqual([disk.uuid for disk in self.done(self.config.disks("web2"))], ["new-disk"])
        self.assertEqual(self.store.snapshot.cluster.highest_used_port, port)
        self.assertEqual(self.reservations.owners(), set())
        self.done(self.config.remove_instance(NEW.uuid))
        self.assertNotIn("new-disk", self.store.snapshot.disks)
        self.assertIn(port, self.store.snapshot.cluster.tcpudp_port_pool)
        self.assertEqual(self.done(self.other.allocate_port()), port)

    def test_ports_out_of_order(self) -> None:
        """Ports that were passed over because others had reserved them come back into the pool."""
        first, second = self.done(self.config.allocate_port()), self.done(self.other.allocate_port())
        self.assertEqual((first, second), (11001, 11002))
        self.done(self.other.add_instance(replace(NEW, network_port=second), []))
        self.assertEqual(self.store.snapshot.cluster.tcpudp_port_pool, (first,))
        self.assertEqual(self.done(self.other.allocate_port()), 11003)
        self.done(self.config.drop_reservations())
        self.assertEqual(self.done(self.other.allocate_port()), first)

    def test_refused_instances(self) -> None:
        """What would make the configuration inconsistent is refused, with the object and the reason."""
        for wrong, words in (
            (replace(NEW, name=INSTANCE.name), "instance name web1.example.com is used by"),
            (replace(NEW, primary_node="ghost"), "primary node ghost"),
            (replace(NEW, nics=INSTANCE.nics), "MAC address aa:00:00:00:00:01 is used by"),
            (replace(NEW, uuid=INSTANCE.uuid), "is taken"),
            (replace(NEW, network_port=11000), "TCP port 11000 is used by"),
            (replace(NEW, disks=("ghost",)), "its disk ghost"),
        ):
            self.refused(self.config.add_instance(wrong, []), ConfigurationError, words)

    def test_old_faults_do_not_block(self) -> None:
        """A change is not refused for a fault that was there before it."""
        broken = replace(CONFIG, instances={INSTANCE.uuid: replace(INSTANCE, hvparams={"nonsense": 1})})
        config = config_of(loaded(MemoryFiles(), broken), Reservations())
        changed = self.done(config.update_instance(replace(broken.instances[INSTANCE.uuid], os="other")))
        self.assertEqual(changed.os, "other")

    def test_state(self) -> None:
        """The wanted state is stored and counted."""
        down = self.done(self.config.set_instance_state(INSTANCE.uuid, AdminState.DOWN, AdminStateSource.USER, False))
        self.assertEqual((down.admin_state, down.admin_state_source, down.serial_no), ("down", "user", 2))
        self.assertFalse(down.disks_active)

    def test_disks(self) -> None:
        """Disks are added in their place, updated and removed together with what their instance says of them."""
        self.done(self.config.add_disk(INSTANCE.uuid, NEW_DISK, 0))
        self.assertEqual(self.done(self.config.instance("web1")).disks, ("new-disk", DISK.uuid))
        held = self.store.snapshot.disks["new-disk"]
        self.assertEqual(self.done(self.config.update_disk(replace(held, size=2048))).serial_no, 2)
        self.refused(self.config.update_disk(replace(held, size=4096)), ConfigurationError, "changed meanwhile")
        self.refused(self.config.add_disk(INSTANCE.uuid, replace(NEW_DISK, uuid="x"), 7), ConfigurationError, "place 7")
        self.refused(
            self.config.add_disk(INSTANCE.uuid, replace(NEW_DISK, uuid="x"), None), ConfigurationError, "logical volume"
        )
        self.done(self.config.remove_disk("new-disk"))
        self.assertEqual(self.done(self.config.instance("web1")).disks, (DISK.uuid,))

    def test_addresses(self) -> None:
        """Addresses of networks are reserved, taken with the instance and given back with it."""
        address = self.done(self.config.generate_ip("lan"))
        self.assertEqual(address, "192.0.2.1")
        self.refused(self.other.reserve_ip("lan", address), ReservationError, "reserved by job 7")
        self.refused(self.other.reserve_ip("lan", "192.0.2.15"), ReservationError, "taken")
        self.refused(self.other.reserve_ip("lan", "10.0.0.1"), ReservationError, "not in network")
        nic = replace(NEW.nics[0], ip=address, network=NETWORK.uuid)
        self.refused(self.other.add_instance(replace(NEW, nics=(nic,)), []), ReservationError, "reserved by job 7")
        self.done(self.config.add_instance(replace(NEW, nics=(nic,)), []))
        self.assertEqual(self.store.snapshot.networks[NETWORK.uuid].reservations, "1100000000000001")
        self.refused(self.other.reserve_ip("lan", address), ReservationError, "taken")
        self.done(self.config.remove_instance(NEW.uuid))
        self.assertEqual(self.store.snapshot.networks[NETWORK.uuid].reservations, "1000000000000001")

    def test_nodes(self) -> None:
        """Nodes come into their group with their certificate, and leave both; those in use and the master stay."""
        node = replace(NODE, uuid="n3", name="node3.example.com", primary_ip="192.0.2.13", secondary_ip="192.0.2.13")
        self.done(self.config.add_node(node, "digest", "other"))
        self.assertIn("n3", self.store.snapshot.nodegroups[GROUP.uuid].members)
        self.assertEqual(self.store.snapshot.cluster.candidate_certs, {"n3": "digest", "server:n3": "other"})
        held = self.done(self.config.node("node3"))
        changed = self.done(self.config.update_node(replace(held, master_candidate=False, drained=True)))
        self.assertEqual(changed.serial_no, 2)
        self.assertEqual(self.store.snapshot.cluster.candidate_certs, {"server:n3": "other"})
        self.done(self.config.change_nodes([], {"server:n3": "renewed", "ssh-host:n3": "key", "server:ghost": "00"}))
        self.assertEqual(self.store.snapshot.cluster.candidate_certs, {"server:n3": "renewed", "ssh-host:n3": "key"})
        drained = replace(self.done(self.config.node("n3")), drained=False, offline=True)
        self.refused(self.config.change_nodes([drained], {}, 3), ConfigurationError, "2 master candidates instead of 3")
        self.done(self.config.change_nodes([drained], {}, 2))
        self.refused(self.config.add_node(replace(node, uuid="n4"), None, None), ConfigurationError, "node name")
        self.refused(self.config.remove_node(NODE.uuid), ConfigurationError, "is the master")
        self.refused(self.config.remove_node(NODE2.uuid), ConfigurationError, "has instances: web1.example.com")
        self.done(self.config.remove_node("n3"))
        self.assertEqual(self.store.snapshot.cluster.candidate_certs, {})
        self.assertEqual(self.store.snapshot.nodegroups[GROUP.uuid].members, (NODE.uuid, NODE2.uuid))

    def test_master_stays_candidate(self) -> None:
        """The master cannot stop being a candidate."""
        self.refused(
            self.config.update_node(replace(NODE, master_candidate=False)), ConfigurationError, "no master candidate"
        )

    def test_groups(self) -> None:
        """A node that changes its group is a member of the new one only; groups in use stay."""
        self.done(self.config.add_group(replace(GROUP, uuid="g2", name="second", networks={}, members=("x",))))
        self.done(self.config.update_node(replace(NODE2, group="g2")))
        self.assertEqual(self.store.snapshot.nodegroups["g2"].members, (NODE2.uuid,))
        self.assertEqual(self.store.snapshot.nodegroups[GROUP.uuid].members, (NODE.uuid,))
        self.refused(self.config.remove_group("g2"), ConfigurationError, "has nodes: node2.example.com")
        held = self.done(self.config.node("node2"))
        self.done(self.config.update_node(replace(held, group=GROUP.uuid)))
        self.done(self.config.remove_group("g2"))
        self.refused(self.config.remove_group(GROUP.uuid), ConfigurationError, "has nodes")

    def test_networks_and_filters(self) -> None:
        """Networks that are connected stay; filters are put and removed."""
        self.done(self.config.add_network(replace(NETWORK, uuid="net2", name="wan", network="198.51.100.0/28")))
        held = self.done(self.config.network("wan"))
        self.assertEqual(self.done(self.config.update_network(replace(held, gateway="198.51.100.1"))).serial_no, 2)
        self.refused(self.config.remove_network(NETWORK.uuid), ConfigurationError, "connected to node groups: default")
        self.done(self.config.remove_network("net2"))
        self.done(self.config.put_filter(replace(FILTER, uuid="f2", priority=5)))
        self.assertEqual([rule.uuid for rule in self.done(self.config.filters())], [FILTER.uuid, "f2"])
        self.done(self.config.remove_filter("f2"))
        self.refused(self.config.remove_filter("f2"), OpPrereqError, "'f2' not known")

    def test_cluster(self) -> None:
        """The cluster object is checked like the rest."""
        cluster = self.done(self.config.cluster())
        self.assertEqual(self.done(self.config.update_cluster(replace(cluster, max_running_jobs=7))).serial_no, 2)
        self.refused(self.config.update_cluster(cluster), ConfigurationError, "changed meanwhile")
        now = self.done(self.config.cluster())
        self.refused(self.config.update_cluster(replace(now, mac_prefix="x")), ConfigurationError, "MAC prefix")

    def test_tags(self) -> None:
        """Tags come and go in one change; wrong ones are refused."""
        self.done(self.config.change_tags(TagKind.INSTANCE, "web1", ["b", "a"], []))
        self.done(self.config.change_tags(TagKind.INSTANCE, "web1", ["c"], ["b"]))
        self.assertEqual(self.done(self.config.tags(TagKind.INSTANCE, "web1")), ["a", "c"])
        self.refused(self.config.change_tags(TagKind.NODE, "node1", [], ["x"]), TagError, "not found: x")
        self.refused(self.config.change_tags(TagKind.NODE, "node1", ["no!"], []), TagError, "no!")
        self.refused(self.config.change_tags(TagKind.NODE, "node9", ["a"], []), OpPrereqError, "'node9' not known")

    def test_macs(self) -> None:
        """A generated address has the prefix, belongs to its owner, and ends with him if it is not used."""
        mac = self.done(self.config.generate_mac(None))
        self.assertTrue(mac.startswith("aa:00:00:"))
        self.refused(self.other.reserve_mac(mac.upper()), ReservationError, "reserved by job 7")
        self.refused(self.other.reserve_mac(NIC.mac), ReservationError, "in use")
        self.refused(self.other.reserve_mac("12"), ReservationError, "no MAC address")
        self.done(self.config.drop_reservations())
        self.done(self.other.reserve_mac(mac))

    def test_minors(self) -> None:
        """Minors are the lowest that nobody has on that node."""
        self.assertEqual(self.done(self.config.allocate_minors([NODE.uuid, NODE2.uuid, NODE.uuid])), [1, 0, 2])
        self.assertEqual(self.done(self.other.allocate_minors([NODE.uuid])), [3])

    def test_placement(self) -> None:
        """A node's instances are those that run there, and those that have a mirror there."""
        self.assertEqual(self.done(self.config.instances_of_node("node1"))[0][0].name, INSTANCE.name)
        self.assertEqual(self.done(self.config.instances_of_node("node2"))[1][0].name, INSTANCE.name)
        self.assertEqual(DISK.dev_type, DiskTemplate.DRBD)

    def test_reservations_survive(self) -> None:
        """Reservations are the same after a restart."""
        self.done(self.config.generate_mac(None))
        self.done(self.other.allocate_minors([NODE.uuid]))
        again = Reservations()
        again.restore(self.reservations.encode())
        self.assertEqual(again.encode(), self.reservations.encode())
        self.assertEqual({job for job, _ in again.owners()}, {7, 8})
        self.assertRaises(ConfigurationError, again.restore, b"[[]]")
