"""Tests of instances that cannot be made."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.opcodes.types import InstanceCreateMode, NicKey
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.stage import CONFIG, FILE_DIR, INSTANCE, UnitTestCase
from ganeti_tx.test.model.samples import GROUP, NODE2


class RefusalTests(UnitTestCase):
    """OP_INSTANCE_CREATE that cannot be; the text names the value and what is allowed."""

    def assert_refused(self, *words: str, **changes: Any) -> None:
        """It is refused with these words, and nothing was made."""
        text = self.refused(create(**changes), OpPrereqError)
        for word in words:
            self.assertIn(word, text)
        self.assertEqual(self.nodes.of_kind(BlockdevCreate), [])
        self.assertEqual(set(self.stage.snapshot.instances), {INSTANCE.uuid})

    def test_modes(self) -> None:
        """Each goes with what is meant for it only."""
        self.assert_refused("source_handshake", "is expected", mode=InstanceCreateMode.REMOTE_IMPORT)
        self.assert_refused("mode create only", mode=InstanceCreateMode.REMOTE_IMPORT, no_install=True)
        self.assert_refused("mode create only", mode=InstanceCreateMode.IMPORT, forthcoming=True)
        self.assert_refused("gnt-cluster modify --instance-communication-network", instance_communication=True)
        self.assert_refused("web2", "not known", commit=True)

    def test_names(self) -> None:
        """The name must resolve, be a host's, and be free."""
        self.assert_refused("ghost", "name_check=false", instance_name="ghost")
        self.assert_refused("a/b", instance_name="a/b", name_check=False, ip_check=False)
        self.assert_refused("already", instance_name="web1.example.com", name_check=False, ip_check=False)
        self.assert_refused("192.0.2.11", "node1.example.com", instance_name="taken")
        self.assert_refused("192.0.2.103", "a host answers", "--no-ip-check", instance_name="alive")
        self.assert_refused("name check", name_check=False)

    def test_places(self) -> None:
        """A node is needed, and it must take instances."""
        self.assert_refused("No iallocator or node given", pnode=None)
        self.assert_refused("no cluster-wide default iallocator", pnode=None, iallocator=".")
        self.assert_refused("hail", "Do not specify both", iallocator="hail")
        self.assert_refused("ghost", pnode="ghost")
        self.assert_refused("ghost", group_name="ghost")
        for flag, value in (("drained", True), ("vm_capable", False), ("offline", True)):
            node = replace(NODE2, master_candidate=False, **{flag: value})
            self.stage = self.make_stage(
                replace(
                    CONFIG,
                    nodes={**CONFIG.nodes, node.uuid: node},
                    cluster=replace(CONFIG.cluster, candidate_pool_size=1),
                )
            )
            self.nodes = self.stage.nodes
            self.assert_refused("node2.example.com", flag)

    def test_other_group(self) -> None:
        """A node is not taken from another group than the one that was asked for."""
        other = replace(GROUP, uuid="other-uuid", name="rack2", networks={})
        self.stage = self.make_stage(replace(CONFIG, nodegroups={**CONFIG.nodegroups, other.uuid: other}))
        self.assert_refused("node2.example.com", f"in group {GROUP.name}", "not in rack2", group_name="rack2")

    def test_without_driver(self) -> None:
        """A template that is enabled, though no node has a driver for it."""
        enabled = replace(CONFIG.cluster, enabled_disk_templates=(DiskTemplate.RBD,))
        self.stage = self.make_stage(replace(CONFIG, cluster=enabled))
        self.stage.templates = (DiskTemplate.FILE,)
        self.nodes = self.stage.nodes
        self.assert_refused("rbd", "not available", disk_template=DiskTemplate.RBD)

    def test_device_names(self) -> None:
        """Names of disks and NICs fit into a line, are no index, and are each one's own, as when they are changed later."""
        for name, why in (
            ("a\nb", "only printable characters are allowed"),
            ("x" * 256, "at most 255"),
            ("-1", "that is an index"),
            (7, "that is an index"),
        ):
            self.assert_refused("disk/0", why, disks=({"size": 1024, "name": name},))
            self.assert_refused("nic/0", why, nics=({NicKey.NAME: str(name)},))
        self.assert_refused("disk/1 cannot be named 'x': another one", disks=({"size": 1024, "name": "x"},) * 2)
        self.assert_refused("nic/1 cannot be named 'x': another one", nics=({NicKey.NAME: "x"},) * 2)
        self.assert_refused("nic/0: link", "only printable characters", nics=({NicKey.LINK: "br0\nbr1"},))

    def test_addresses_of_nics(self) -> None:
        """No text can come after an address, and none is one of IPv4 that looks like another."""
        for address, why in (
            ("fe80::1%eth0", "not an IP address: 'fe80::1%eth0'; one with a zone"),
            ("fe80::1%$(reboot)\nNODE=evil", r"not an IP address: 'fe80::1%$(reboot)\nNODE=evil'; one with a zone"),
            ("web1", "not an IP address: 'web1'"),
            ("::ffff:10.9.0.6", "is an IPv4 address written as IPv6; give it as 10.9.0.6"),
        ):
            self.assert_refused(
                f"nic/0: {'' if why.startswith('not') else address + ' '}{why}", nics=({NicKey.IP: address},)
            )

    def test_spindles(self) -> None:
        """They are counted."""
        for count in ("many", -1, [2]):
            self.assert_refused("disk/0: not a number of spindles", disks=({"size": 1024, "spindles": count},))

    def test_disks(self) -> None:
        """Templates, sizes and settings of disks."""
        self.assert_refused("rbd", "not enabled", disk_template=DiskTemplate.RBD)
        self.assert_refused("volume_group_name", disk_template=DiskTemplate.DRBD)
        self.assert_refused("Missing size", "disk 0", "--defaults disksize=SIZE", disks=({},))
        self.assert_refused("Missing size", "disk 0", disks=({"size": "auto"},))
        self.assert_refused("'many'", disks=({"size": "many"},))
        self.assert_refused("colour", "mode, name", disks=({"size": 1024, "colour": "red"},))
        self.assert_refused("'rx'", "ro, rw", disks=({"size": 1024, "mode": "rx"},))
        self.assert_refused("17 disks", disks=({"size": 1024},) * 17)
        self.assert_refused("../out", FILE_DIR, file_storage_dir="../out")
        self.assert_refused("diskless", disk_template=DiskTemplate.DISKLESS)

    def test_nics(self) -> None:
        """Modes, addresses and MACs of network interfaces."""
        self.assert_refused("teleport", "bridged", nics=({NicKey.MODE: "teleport"},))
        self.assert_refused("lan", nics=({NicKey.NETWORK: "lan"},))
        self.assert_refused("parameter network must be passed", nics=({NicKey.IP: "pool"},))
        self.assert_refused("mode pool needs a network", nics=({NicKey.MODE: "pool"},))
        self.assert_refused("vlan '5000'", nics=({NicKey.VLAN: "5000"},))
        self.assert_refused("'1.2.3'", nics=({NicKey.IP: "1.2.3"},))
        self.assert_refused("routed", nics=({NicKey.MODE: "routed"},))
        self.assert_refused("'zz'", nics=({NicKey.MAC: "zz"},))
        self.assert_refused("aa:00:00:00:00:01", "in use", nics=({NicKey.MAC: "aa:00:00:00:00:01"},))
        self.assert_refused("9 NICs", nics=({},) * 9)

    def test_parameters(self) -> None:
        """Parameters, the hypervisor, tags, the OS."""
        self.assert_refused("colour", hvparams={"colour": 1})
        self.assert_refused("minmem", beparams={"minmem": 1024, "maxmem": 512})
        self.assert_refused("xen-pvm", "kvm", hypervisor=Hypervisor.XEN_PVM)
        self.assert_refused("no guest OS", os_type=None)
        self.assert_refused("bad!", tags=("bad!",))
        self.assert_refused("5000 tags are too many, allowed are 4096", tags=tuple(f"t{n}" for n in range(5000)))

    def test_policy(self) -> None:
        """The group's policy holds."""
        self.assert_refused("disk-size", "1024", disks=({"size": 10},))

    def test_node_says_no(self) -> None:
        """What the node says of hypervisor and OS is the text."""
        self.nodes.fail(OsValidate, "no OS busybox")
        self.assert_refused("no OS busybox")
        self.nodes.fail(HypervisorValidateParams, "no kernel")
        self.assert_refused("no kernel")

    def test_no_room(self) -> None:
        """Memory and disk must be free."""
        full = StorageSpace("file", FILE_DIR, 100, 50)
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[full], hypervisors={"kvm": {"memory_free": 4096}}))
        self.assert_refused("needed 3072 MiB", "free 50 MiB")
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[], hypervisors={"kvm": {"memory_free": 8}}))
        self.assert_refused("needed 512 MiB", "available 8 MiB")
