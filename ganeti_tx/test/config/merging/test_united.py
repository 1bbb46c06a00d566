"""What becomes of another cluster's nodes, groups, instances, disks and networks; and what is refused."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.changes_merge import join_cluster, part_clusters
from ganeti_tx.config.merging.choices import Choices, Conflict, SameGroup
from ganeti_tx.config.merging.ports import stopped
from ganeti_tx.config.merging.united import judged, united
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.test.config.merging.clusters import OURS, other_cluster

MERGE, RENAME = Choices(groups=SameGroup.MERGE), Choices(groups=SameGroup.RENAME)
NOW = 5.0


class UnitedCase(SynchronousTestCase):
    """`theirs` is stopped."""

    def setUp(self) -> None:
        self.running = other_cluster()
        self.theirs = stopped(self.running)

    def obstacles(self, theirs: ConfigData, choices: Choices = MERGE) -> str:
        """All, a line each."""
        return "\n".join(judged(OURS, theirs, choices, NOW).obstacles)


class UnitedTests(UnitedCase):
    """What comes of it."""

    def test_all_there(self) -> None:
        """All of both is there and sound; nodes come offline and as no candidates; nothing of ours has changed."""
        self.assertEqual(self.obstacles(self.theirs), "")
        after = united(OURS, self.theirs, MERGE, NOW)
        self.assertEqual(verify(after), [])
        for container in ("nodes", "instances", "disks", "networks"):
            own, other, both = (getattr(config, container) for config in (OURS, self.theirs, after))
            self.assertEqual(both.keys(), own.keys() | other.keys())
            self.assertEqual({uuid: both[uuid] for uuid in own}, own)
        for uuid in self.theirs.nodes:
            node = after.nodes[uuid]
            self.assertEqual((node.offline, node.master_candidate, node.drained), (True, False, False))
        self.assertEqual(after.filters, OURS.filters)
        self.assertEqual(after.cluster.candidate_certs, OURS.cluster.candidate_certs)

    def test_merged_group(self) -> None:
        """A group of the same name gets the nodes, and the networks that they know."""
        after = united(OURS, self.theirs, MERGE, NOW)
        [group] = after.nodegroups.values()
        self.assertEqual(set(group.members), set(after.nodes))
        self.assertEqual(set(group.networks), set(after.networks))
        self.assertEqual({node.group for node in after.nodes.values()}, {group.uuid})

    def test_renamed_group(self) -> None:
        """Or it comes with its cluster's name, and ours stays as it is."""
        self.assertEqual(self.obstacles(self.theirs, RENAME), "")
        after = united(OURS, self.theirs, RENAME, NOW)
        self.assertEqual(
            sorted(group.name for group in after.nodegroups.values()), ["default", "default-other.example.com"]
        )
        self.assertEqual(after.nodegroups["group-uuid"], OURS.nodegroups["group-uuid"])
        self.assertEqual(set(after.nodegroups["group-other"].members), set(self.theirs.nodes))
        self.assertEqual(verify(after), [])

    def test_new_ports(self) -> None:
        """Mirrored disks get ports of ours, and so does a display whose port is taken; who has a free one keeps it."""
        [instance], [other] = self.theirs.instances.values(), self.theirs.disks.values()
        self.assertEqual(other.ports, (11000,))
        display = replace(instance, uuid="display", name="web3.example.com", network_port=11000, disks=(), nics=())
        free = replace(display, uuid="free", name="web4.example.com", network_port=11002)
        theirs = replace(self.theirs, instances={**self.theirs.instances, "display": display, "free": free})
        self.assertEqual(self.obstacles(theirs), "")
        after = united(OURS, theirs, MERGE, NOW)
        ports = {
            *after.disks[other.uuid].ports,
            *(each.network_port for uuid, each in after.instances.items() if uuid in theirs.instances),
        }
        self.assertEqual(ports, {11001, 11002, 11003, None})
        self.assertEqual(after.instances["free"].network_port, 11002)
        self.assertEqual((after.cluster.highest_used_port, after.cluster.tcpudp_port_pool), (11003, ()))
        self.assertEqual(after.disks[other.uuid].secrets, other.secrets)

    def test_running(self) -> None:
        """What runs keeps its ports; when they are taken, that is an obstacle."""
        self.assertIn("TCP port 11000 of instance web2.example.com, which is not stopped", self.obstacles(self.running))
        [disk] = self.running.disks.values()
        node, other, _, *rest = disk.logical_id or ()
        theirs = replace(self.running, disks={disk.uuid: replace(disk, logical_id=(node, other, 11007, *rest))})
        self.assertEqual(self.obstacles(theirs), "")
        after = united(OURS, theirs, MERGE, NOW)
        self.assertEqual(after.disks[disk.uuid].ports, (11007,))
        self.assertEqual(after.cluster.tcpudp_port_pool, tuple(range(11001, 11007)))

    def test_taken_back(self) -> None:
        """What was joined parts again, and only then when no node is in service; a second time it has parted."""
        joined = join_cluster(self.theirs, MERGE)(OURS, NOW)
        uuids = [*self.theirs.nodes, *self.theirs.instances, *self.theirs.disks, *self.theirs.networks]
        parted = part_clusters(uuids)(joined, NOW)
        for container in ("nodes", "instances", "disks", "networks"):
            self.assertEqual(getattr(parted, container), getattr(OURS, container))
        [group], [was] = parted.nodegroups.values(), OURS.nodegroups.values()
        self.assertEqual((group.members, group.networks), (was.members, was.networks))
        self.assertEqual(parted.cluster.tcpudp_port_pool, (11001,))
        self.assertIs(part_clusters(uuids)(parted, NOW), parted)
        served = replace(joined.nodes["node1-other"], offline=False)
        joined = replace(joined, nodes={**joined.nodes, served.uuid: served})
        with self.assertRaisesRegex(ConfigurationError, "node3.example.com is in service"):
            part_clusters(uuids)(joined, NOW)


class RefusedTests(UnitedCase):
    """All that stands in the way is told, and nothing is done."""

    def test_groups(self) -> None:
        """Nobody guesses what shall become of groups of the same name."""
        self.assertIn("node group default is in both clusters: --groups=merge", self.obstacles(self.theirs, Choices()))

    def test_clashes(self) -> None:
        """Names, uuids and addresses that both have are listed with who has them, all at once."""
        instance, node = self.theirs.instances["inst-other"], self.theirs.nodes["node1-other"]
        network, nic = self.theirs.networks["net-other"], instance.nics[0]
        theirs = replace(
            self.theirs,
            instances={
                "inst-other": replace(instance, name="WEB1.example.com", nics=(replace(nic, mac="AA:00:00:00:00:01"),))
            },
            nodes={
                **self.theirs.nodes,
                "node1-other": replace(node, primary_ip="192.0.2.11", secondary_ip="192.0.2.11"),
            },
            networks={"net-other": replace(network, name="lan")},
            disks={**self.theirs.disks, "disk-uuid": replace(self.theirs.disks["disk-other"], uuid="disk-uuid")},
        )
        told = self.obstacles(theirs)
        for words in (
            "instance name web1.example.com is in both clusters: instance web1.example.com here, instance WEB1.example.com there",
            "MAC address aa:00:00:00:00:01 is in both",
            "node address 192.0.2.11 is in both clusters: node node1.example.com here, node node3.example.com there",
            "network name lan is in both",
            "uuid disk-uuid is in both",
        ):
            self.assertIn(words, told)
        with self.assertRaisesRegex(ConfigurationError, "the clusters cannot be merged: instance|node|uuid"):
            join_cluster(theirs, MERGE)(OURS, NOW)

    def test_itself(self) -> None:
        """A cluster is not merged into itself."""
        self.assertIn("is this cluster itself", self.obstacles(OURS))

    def test_addresses(self) -> None:
        """Nodes have addresses of one kind; nobody has the address of our cluster."""
        nodes = {
            uuid: replace(node, secondary_ip=f"198.51.100.{at}")
            for at, (uuid, node) in enumerate(self.theirs.nodes.items())
        }
        self.assertIn(
            "secondary addresses of their own in one cluster only", self.obstacles(replace(self.theirs, nodes=nodes))
        )
        node = replace(self.theirs.nodes["node1-other"], primary_ip="192.0.2.1", secondary_ip="192.0.2.1")
        theirs = replace(self.theirs, nodes={**self.theirs.nodes, node.uuid: node})
        self.assertIn("address 192.0.2.1 of node node3.example.com is that of cluster", self.obstacles(theirs))

    def test_parameters(self) -> None:
        """Differences stand in the way, or are warned of; what a cluster is by itself may differ; no secret is shown."""
        cluster = replace(
            self.theirs.cluster,
            beparams={"default": {"vcpus": 7}},
            hvparams={Hypervisor.KVM: {"acpi": True}},
            osparams_private_cluster={"debian": {"password": "s3cret"}},
            tags=("c", "a"),
            candidate_pool_size=9,
            mac_prefix="aa:00:01",
        )
        theirs = replace(self.theirs, cluster=cluster)
        wanted = {
            "osparams_private_cluster: differs",
            "tags: this cluster does not have c",
            "hvparams.kvm.acpi: False here, True there",
            "beparams.vcpus: 1 here, 7 there",
        }
        found = judged(OURS, theirs, replace(MERGE, conflicts=Conflict.WARN), NOW)
        self.assertEqual((found.obstacles, wanted - set(found.warnings)), ([], set()), found.warnings)
        told = self.obstacles(theirs)
        for line in wanted:
            self.assertIn(f"parameters differ, {line} (--parameter-conflicts=warn goes on)", told)
        self.assertNotIn("s3cret", told)
        self.assertNotIn("candidate_pool_size", told)

    def test_group_parameters(self) -> None:
        """Those of groups count where they become one."""
        group = replace(self.theirs.nodegroups["group-other"], ndparams={"ssh_port": 2222})
        theirs = replace(self.theirs, nodegroups={group.uuid: group})
        self.assertIn("node group default: ndparams.ssh_port: not set here, 2222 there", self.obstacles(theirs))
        self.assertEqual(self.obstacles(theirs, RENAME), "")

    def test_faults(self) -> None:
        """What would be wrong in the one cluster is told."""
        instance = replace(self.theirs.instances["inst-other"], hypervisor=Hypervisor.XEN_PVM)
        theirs = replace(self.theirs, instances={instance.uuid: instance})
        self.assertIn("hypervisor xen-pvm is not enabled", self.obstacles(theirs))
