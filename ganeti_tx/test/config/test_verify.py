"""verify: a sound configuration has no faults, and each kind of fault is found and named."""

from typing import Any

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.new_cluster import FirstNode, new_cluster
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError, ConfigVerifyError
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.model.samples import CLUSTER, DISK, FILTER, GROUP, INSTANCE, NETWORK, NIC, NODE, NODE2


def with_(container: str, held: Any, **changes: Any) -> ConfigData:
    """The sample with one object changed."""
    return replace(CONFIG, **{container: {**getattr(CONFIG, container), held.uuid: replace(held, **changes)}})


def with_cluster(**changes: Any) -> ConfigData:
    """The sample with a changed cluster."""
    return replace(CONFIG, cluster=replace(CONFIG.cluster, **changes))


TWIN = replace(INSTANCE, uuid="twin-uuid", name="web2.example.com", disks=(), nics=())

#: A broken configuration, and words that the line about it must hold.
FAULTS: list[tuple[ConfigData, str]] = [
    (replace(CONFIG, version=2160000), "configuration: version is 2160000"),
    (with_cluster(master_node="nobody"), "the master node nobody is not in the configuration"),
    (with_cluster(enabled_hypervisors=()), "no hypervisor is enabled"),
    (with_cluster(enabled_disk_templates=()), "no disk template is enabled"),
    (with_cluster(mac_prefix="aa:00"), "MAC prefix 'aa:00'"),
    (with_cluster(master_ip="here"), "master address 'here'"),
    (with_cluster(uid_pool=((9, 5),)), "user id range 9-5"),
    (with_cluster(highest_used_port=20000), "highest used port 20000"),
    (with_cluster(tcpudp_port_pool=(11000,)), "TCP port 11000 is in use and in the pool"),
    (with_cluster(tcpudp_port_pool=(10000,)), "free port 10000 is not between"),
    (with_cluster(candidate_certs={"ghost": "00"}), "unknown node ghost"),
    (with_cluster(candidate_pool_size=0), "candidate pool size 0"),
    (with_cluster(hvparams={Hypervisor.KVM: {"acpi": "perhaps"}}), "hvparams.kvm"),
    (with_cluster(beparams={"default": {"minmem": 512, "maxmem": 128}}), "beparams.minmem"),
    (with_cluster(tags=("a", "a")), "carries a tag twice"),
    (with_cluster(tags=("what?",)), "'what?' is not a tag"),
    (with_("nodes", NODE2, group="nowhere"), "its node group nowhere is not in the configuration"),
    (with_("nodes", NODE2, name=NODE.name), f"node name {NODE.name} is used by"),
    (with_("nodes", NODE2, primary_ip=NODE.primary_ip), f"node address {NODE.primary_ip} is used by"),
    (with_("nodes", NODE2, offline=True), "cannot be master_candidate and offline"),
    (with_("nodes", NODE2, master_capable=False), "is a master candidate but not master capable"),
    (with_("nodes", NODE2, master_candidate=False), "has 1 master candidates of 2 wanted"),
    (with_("nodes", NODE, master_candidate=False), "is the master but no master candidate"),
    (with_("nodes", NODE2, ndparams={"ssh_port": "x"}), "ndparams"),
    (with_("nodes", NODE2, serial_no=0), "serial number 0"),
    (with_("nodes", NODE2, primary_ip="1.2.3"), "primary address '1.2.3'"),
    (with_("nodes", NODE2, primary_ip="2001:db8::12"), "primary address 2001:db8::12 is an IPv6 address, but"),
    (with_("nodes", NODE2, secondary_ip="2001:db8::12"), "secondary address 2001:db8::12 is an IPv6 address, but"),
    (with_cluster(primary_ip_family=10), "master address 192.0.2."),
    (with_("nodegroups", GROUP, members=()), "does not list it"),
    (with_("nodegroups", GROUP, members=("ghost",)), "lists ghost"),
    (with_("nodegroups", GROUP, networks={"ghost": {}}), "unknown network ghost"),
    (with_("instances", INSTANCE, primary_node="ghost"), "its primary node ghost"),
    (with_("instances", INSTANCE, disks=("ghost",)), "its disk ghost"),
    (with_("instances", INSTANCE, hypervisor=Hypervisor.LXC), "hypervisor lxc is not enabled"),
    (with_("instances", INSTANCE, hvparams={"nonsense": 1}), "nonsense"),
    (with_("instances", INSTANCE, beparams={"vcpus": 0}), "beparams.vcpus"),
    (with_("instances", INSTANCE, name=""), "has no name"),
    (with_("instances", INSTANCE, nics=(replace(NIC, mac="zz"),)), "'zz' is no MAC address"),
    (with_("instances", INSTANCE, nics=(replace(NIC, network="ghost"),)), "network ghost"),
    (
        with_("instances", INSTANCE, nics=(replace(NIC, network=NETWORK.uuid, ip="192.0.2.5"),)),
        "address 192.0.2.5 of network lan is in use but not marked so",
    ),
    (with_("instances", INSTANCE, nics=(replace(NIC, nicparams={"mode": "odd"}),)), "nicparams.mode"),
    (with_("instances", TWIN, name="WEB1.example.com"), "instance name web1.example.com is used by"),
    (with_("instances", TWIN, nics=(replace(NIC, uuid="n2", mac="AA:00:00:00:00:01"),)), "MAC address aa:00:00"),
    (with_("instances", TWIN, network_port=11000), "TCP port 11000 is used by"),
    (with_("instances", TWIN, disks=INSTANCE.disks), "disk disk-uuid is used by"),
    (
        replace(CONFIG, disks={**CONFIG.disks, "d2": replace(DISK, uuid="d2")}),
        "is used by disk/0 of instance web1.example.com and by disk d2; give",
    ),
    (with_("disks", DISK, nodes=("ghost",)), "its node ghost"),
    (with_("disks", DISK, size=-1), "size -1 MiB"),
    (with_("networks", NETWORK, network="192.0.2.1/28"), "no IPv4 network"),
    (with_("networks", NETWORK, reservations="01"), "2 bits for 16 addresses"),
    (with_("networks", NETWORK, gateway="10.0.0.1"), "not in network lan"),
    (replace(CONFIG, nodes={**CONFIG.nodes, "wrong": NODE2}), "stands under the key wrong"),
    (replace(CONFIG, filters={"wrong": FILTER}), "stands under the key wrong"),
]


class VerifyTests(SynchronousTestCase):
    """Whole configurations."""

    def test_sound(self) -> None:
        """A sound configuration has no faults."""
        self.assertEqual(verify(CONFIG), [])

    def test_faults(self) -> None:
        """Each fault is found, on one line that says what to do after a semicolon."""
        for broken, words in FAULTS:
            found = [line for line in verify(broken) if words in line]
            self.assertTrue(found, f"no line with {words!r} among {verify(broken)}")
            for line in found:
                self.assertNotIn("\n", line)
                self.assertIn("; ", line)


class NewClusterTests(SynchronousTestCase):
    """What "gnt-cluster init" writes."""

    def make(self, **settings: Any) -> ConfigData:
        """A cluster with some settings."""
        return new_cluster(
            cluster_name="c.example.com",
            master_ip="192.0.2.1",
            master_netdev="lo",
            master=FirstNode(
                name="n1.example.com", primary_ip="192.0.2.2", secondary_ip="192.0.2.2", certificate_digest="ab" * 20
            ),
            settings=settings,
            entropy=SeededEntropy(3).random_bytes,
            now=1234.5,
        )

    def test_sound(self) -> None:
        """The first configuration is sound, survives the disk, and its master is a candidate with its certificate."""
        config = self.make()
        self.assertEqual(verify(config), [])
        self.assertEqual(decode(encode(config)), config)
        [node] = config.nodes.values()
        [group] = config.nodegroups.values()
        self.assertEqual((group.name, group.members), ("default", (node.uuid,)))
        self.assertEqual(config.cluster.master_node, node.uuid)
        self.assertEqual(config.cluster.candidate_certs, {node.uuid: "ab" * 20})
        self.assertEqual(config.cluster.ctime, 1234.5)

    def test_settings(self) -> None:
        """Settings replace defaults; unknown ones and contradictions are refused by name."""
        self.assertEqual(self.make(enabled_hypervisors=[Hypervisor.FAKE]).cluster.enabled_hypervisors, ("fake",))
        self.assertIn("colour", str(self.assertRaises(ConfigurationError, self.make, colour="red")))
        self.assertRaises(ConfigVerifyError, self.make, mac_prefix="x")
        self.assertEqual(CLUSTER.mac_prefix, "aa:00:00")
