"""Tests of making instances."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.model.enums import AdminState, DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.opcodes import OpInstanceCreate
from ganeti_tx.model.opcodes.private import Private, Secret
from ganeti_tx.model.opcodes.types import InstanceCreateMode, NicKey
from ganeti_tx.rpc.calls.disk import BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.calls.instance import InstanceOsAdd, InstanceShutdown, InstanceStart
from ganeti_tx.rpc.calls.node import BridgesExist
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.test.logic.stage import CONFIG, FILE_DIR, INSTANCE, UnitTestCase
from ganeti_tx.test.model.samples import GROUP, NODE2


def create(**changes: Any) -> OpInstanceCreate:
    """A request that is fine, with some changes."""
    given: dict[str, Any] = {
        "instance_name": "web2",
        "mode": InstanceCreateMode.CREATE,
        "disks": ({"size": "2G"}, {"size": 1024, "mode": "ro"}),
        "disk_template": DiskTemplate.FILE,
        "nics": ({},),
        "os_type": "busybox",
        "pnode": "node2",
        "beparams": {"memory": "512M"},
        **changes,
    }
    return OpInstanceCreate(**given)


class CreateTests(UnitTestCase):
    """OP_INSTANCE_CREATE that succeeds."""

    def made(self) -> Instance:
        """The new instance as it is in the configuration."""
        (found,) = (held for held in self.stage.snapshot.instances.values() if held.uuid != INSTANCE.uuid)
        return found

    def test_makes_an_instance(self) -> None:
        """Disks, configuration, installation, start, in this order; the result is the node."""
        self.assertEqual(self.run_op(create()), ["node2.example.com"])
        self.assertEqual(
            self.nodes.kinds(),
            [
                *("instance_info", "hypervisor_validate_params", "bridges_exist", "os_validate"),
                *("node_info", "node_info"),
                *("blockdev_create", "blockdev_create", "instance_os_add", "instance_start"),
            ],
        )
        instance = self.made()
        self.assertEqual((instance.name, instance.primary_node), ("web2.example.com", NODE2.uuid))
        self.assertEqual((instance.admin_state, instance.disks_active), (AdminState.UP, True))
        self.assertEqual(instance.beparams, {"minmem": 512, "maxmem": 512})
        self.assertIsNotNone(instance.network_port)
        self.assertEqual(self.nodes.of_kind(BridgesExist)[0].bridges, ["xen-br0"])

    def test_disks(self) -> None:
        """Files below the cluster's directory and the instance's name, with the sizes and modes asked for."""
        self.run_op(create(file_storage_dir="big"))
        first, second = (self.stage.snapshot.disks[uuid] for uuid in self.made().disks)
        self.assertEqual((first.size, first.mode, second.size, second.mode), (2048, "rw", 1024, "ro"))
        assert first.logical_id is not None
        self.assertEqual(first.logical_id[0], "loop")
        self.assertTrue(str(first.logical_id[1]).startswith(f"{FILE_DIR}/big/web2.example.com/"))
        self.assertEqual(first.nodes, (NODE2.uuid,))
        self.assertEqual([call.disk.uuid for call in self.nodes.of_kind(BlockdevCreate)], list(self.made().disks))

    def test_default_size(self) -> None:
        """A disk of which no size is said, or "auto", gets the cluster's (design-2.0)."""
        self.stage = self.make_stage(replace(CONFIG, cluster=replace(CONFIG.cluster, default_disk_size=3072)))
        self.run_op(create(disks=({}, {"size": "auto", "mode": "ro"}, {"size": "2g"})))
        self.assertEqual([self.stage.snapshot.disks[uuid].size for uuid in self.made().disks], [3072, 3072, 2048])

    def test_old_modes(self) -> None:
        """The modes of design-2.1 are those of today; a routed interface needs an address."""
        nics = ({NicKey.MODE: "bridge", NicKey.LINK: "br1"}, {NicKey.MODE: "route", NicKey.IP: "192.0.2.77"})
        self.run_op(create(nics=(*nics, {NicKey.MODE: "bridge", NicKey.BRIDGE: "br2"})))
        self.assertEqual(
            [nic.nicparams for nic in self.made().nics],
            [{"mode": "bridged", "link": "br1"}, {"mode": "routed"}, {"mode": "bridged", "link": "br2"}],
        )

    def test_switch(self) -> None:
        """A NIC of Open vSwitch has a link and VLANs."""
        self.run_op(create(nics=({NicKey.MODE: "openvswitch", NicKey.LINK: "sw1", NicKey.VLAN: ".5:6:7"},)))
        [nic] = self.made().nics
        self.assertEqual(nic.nicparams, {"mode": "openvswitch", "link": "sw1", "vlan": ".5:6:7"})
        [start] = self.nodes.of_kind(InstanceStart)
        self.assertEqual(start.instance.nics[0].vlan, ".5:6:7")

    def test_links(self) -> None:
        """Before an instance is made its node is asked for all that its interfaces are plugged into."""
        switch = {NicKey.MODE: "openvswitch", NicKey.LINK: "sw1", NicKey.VLAN: ".5"}
        routed = {NicKey.MODE: "routed", NicKey.LINK: "100", NicKey.IP: "192.0.2.77"}
        self.run_op(create(nics=(switch, routed, {NicKey.LINK: "br1", NicKey.VLAN: ":6"}, {NicKey.LINK: "br2"})))
        asked = self.nodes.of_kind(BridgesExist)[0]
        self.assertEqual((asked.bridges, asked.hypervisor), (["br1", "br2"], "kvm"))
        self.assertEqual(
            [(link.mode, link.link, link.vlan) for link in asked.links],
            [("bridged", "br1", ":6"), ("openvswitch", "sw1", ".5"), ("routed", "100", "")],
        )

    def test_identify_defaults(self) -> None:
        """What is as in the cluster is not the instance's own, so that it follows the cluster later."""
        cluster = replace(
            CONFIG.cluster,
            beparams={"default": {"vcpus": 2}},
            nicparams={"default": {"link": "br7"}},
            osparams={"busybox": {"flavour": "mint"}},
        )
        self.stage = self.make_stage(replace(CONFIG, cluster=cluster))
        said: dict[str, Any] = {
            "beparams": {"vcpus": 2, "memory": 256},
            "hvparams": {"acpi": False, "boot_order": "network"},
            "nics": ({NicKey.LINK: "br7", NicKey.MODE: "bridged"}, {NicKey.LINK: "br8"}),
            "osparams": {"flavour": "mint", "size": "small"},
        }
        self.run_op(create(identify_defaults=True, **said))
        made = self.made()
        self.assertEqual(made.beparams, {"minmem": 256, "maxmem": 256})
        self.assertEqual(made.hvparams, {"boot_order": "network"})
        self.assertEqual([nic.nicparams for nic in made.nics], [{}, {"link": "br8"}])
        self.assertEqual(made.osparams, {"size": "small"})

    def test_nics(self) -> None:
        """Each has a MAC address, a given one or a new one; what is said of it is its own."""
        self.run_op(create(nics=({NicKey.MAC: "AA:00:00:00:00:77", NicKey.LINK: "br1"}, {NicKey.MAC: "auto"})))
        first, second = self.made().nics
        self.assertEqual((first.mac, first.nicparams), ("aa:00:00:00:00:77", {"link": "br1"}))
        self.assertTrue(second.mac.startswith("aa:00:00:"))
        self.assertEqual(second.nicparams, {})

    def test_unasked_address(self) -> None:
        """Without the address check an instance may have the address of a host that is there."""
        self.assertEqual(self.run_op(create(instance_name="alive", ip_check=False)), ["node2.example.com"])

    def test_automatic_bridge(self) -> None:
        """The bridge "auto" is the cluster's own, whatever that is later."""
        self.run_op(create(nics=({NicKey.BRIDGE: "auto"}, {NicKey.BRIDGE: "br1"})))
        self.assertEqual([nic.nicparams for nic in self.made().nics], [{}, {"link": "br1"}])
        (call,) = self.nodes.of_kind(BridgesExist)
        self.assertEqual(call.bridges, ["br1", "xen-br0"])

    def test_group(self) -> None:
        """The node's group may be named, too."""
        self.assertEqual(self.run_op(create(group_name=GROUP.name)), ["node2.example.com"])

    def test_secondary_node(self) -> None:
        """Disks that nothing mirrors have no secondary node: one that is given is ignored, with Ganeti's warning."""
        self.run_op(create(snode="node1.example.com"))
        self.assertIn(
            "- WARNING: Secondary node will be ignored on non-mirrored disk template", "".join(self.stage.feedback)
        )
        self.assertEqual({self.stage.snapshot.disks[uuid].nodes for uuid in self.made().disks}, {(NODE2.uuid,)})

    def test_without_disks(self) -> None:
        """An instance may have none."""
        self.run_op(create(disk_template=DiskTemplate.DISKLESS, disks=()))
        self.assertEqual(self.made().disks, ())
        self.assertEqual(self.nodes.of_kind(BlockdevCreate), [])

    def test_not_started(self) -> None:
        """What is not to start is down, its disks too."""
        self.run_op(create(start=False))
        self.assertEqual((self.made().admin_state, self.made().disks_active), (AdminState.DOWN, False))
        self.assertEqual(self.nodes.kinds()[-2:], ["blockdev_shutdown", "blockdev_shutdown"])
        self.assertEqual(self.nodes.of_kind(InstanceStart), [])

    def test_not_installed(self) -> None:
        """Without an installation nothing is started either."""
        self.run_op(create(no_install=True, os_type=None))
        self.assertIn("- INFO: No-installation mode selected, disabling startup", self.stage.feedback)
        self.assertEqual(self.nodes.kinds()[-1], "blockdev_create")
        self.assertIs(self.made().admin_state, AdminState.DOWN)

    def test_secrets(self) -> None:
        """Private OS parameters are kept, secret ones only reach the installation."""
        self.run_op(create(osparams_private={"key": Private("p")}, osparams_secret={"pass": Secret("s")}))
        self.assertEqual(self.made().osparams_private, {"key": "p"})
        (install,), (start,) = self.nodes.of_kind(InstanceOsAdd), self.nodes.of_kind(InstanceStart)
        self.assertEqual(install.instance.osparams_secret, {"pass": "s"})
        self.assertEqual(start.instance.osparams_secret, {})

    def test_times(self) -> None:
        """The installation, hence its scripts, and the start are told when the instance was made."""
        self.run_op(create())
        made = self.made()
        self.assertGreater(made.ctime, 0)
        (install,), (start,) = self.nodes.of_kind(InstanceOsAdd), self.nodes.of_kind(InstanceStart)
        for call in (install, start):
            self.assertEqual(call.instance.ctime, made.ctime)
            self.assertGreaterEqual(call.instance.mtime, made.ctime)

    def test_name_as_given(self) -> None:
        """Without the name check the name need not resolve."""
        self.run_op(create(instance_name="Lonely", name_check=False, ip_check=False))
        self.assertEqual(self.made().name, "lonely")

    def test_identified_defaults(self) -> None:
        """Values that are the cluster's are not kept."""
        self.run_op(create(beparams={"vcpus": 1, "maxmem": 256}, identify_defaults=True))
        self.assertEqual(self.made().beparams, {"maxmem": 256})

    def test_locks(self) -> None:
        """Only the new name is locked alone."""
        self.run_op(create())
        exclusive = [lock for lock, mode in self.stage.locked.items() if mode == "exclusive"]
        self.assertEqual(exclusive, ["instance/web2.example.com"])
        self.assertEqual(self.stage.locked["node/node2-uuid"], "shared")

    def test_policy_ignored(self) -> None:
        """A violation of the policy becomes a warning when asked for."""
        self.run_op(create(disks=({"size": 10},), ignore_ipolicy=True))
        self.assertTrue(any("WARNING" in line and "disk-size" in line for line in self.stage.feedback))


class FailureTests(UnitTestCase):
    """OP_INSTANCE_CREATE that fails half-way takes back what it did."""

    def assert_undone(self) -> None:
        """Every disk that was created is removed, and the configuration is as before."""
        created = [call.disk.uuid for call in self.nodes.of_kind(BlockdevCreate)]
        removed = [call.disk.uuid for call in self.nodes.of_kind(BlockdevRemove)]
        self.assertEqual(removed, created[::-1])
        self.assertEqual(set(self.stage.snapshot.instances), {INSTANCE.uuid})
        self.assertEqual(set(self.stage.snapshot.disks), set(CONFIG.disks))

    def test_installation_fails(self) -> None:
        """The OS's words are in the error."""
        self.nodes.fail(InstanceOsAdd, "create script failed")
        self.assertIn("create script failed", self.refused(create(), OpExecError))
        self.assert_undone()

    def test_start_fails(self) -> None:
        """What is installed stays, marked as down, and the error says what to do; the start is cut off, for it may run."""
        self.nodes.fail(InstanceStart, "no answer", NodeUnreachableError)
        told = self.refused(create(), OpExecError)
        self.assertIn("no answer", told)
        self.assertIn("'gnt-instance startup web2.example.com' or remove it with 'gnt-instance remove web2.exam", told)
        self.assertEqual(self.nodes.kinds()[-3:], ["instance_shutdown", "blockdev_shutdown", "blockdev_shutdown"])
        self.assertEqual(self.nodes.of_kind(BlockdevRemove), [])
        (made,) = (held for held in self.stage.snapshot.instances.values() if held.uuid != INSTANCE.uuid)
        self.assertEqual((made.admin_state, made.disks_active), (AdminState.DOWN, False))

    def test_start_that_may_run(self) -> None:
        """An instance that could not be stopped again keeps its disks ready, and it is told where to look."""
        self.nodes.fail(InstanceStart, "no answer", NodeUnreachableError)
        self.nodes.fail(InstanceShutdown, "no answer", NodeUnreachableError)
        self.refused(create(), OpExecError)
        self.assertNotIn("blockdev_shutdown", self.nodes.kinds())
        self.assertTrue(any("so it stays as it is; see 'gnt-instance info" in line for line in self.stage.feedback))

    def test_second_disk_fails(self) -> None:
        """A disk that could not be created is not removed: it may be somebody else's."""

        def only_first(node: str, call: BlockdevCreate) -> None:
            if call.disk.index > 0:
                raise NodeCallError(f"node {node}: exists")

        self.nodes.answers[BlockdevCreate] = only_first
        self.refused(create(), OpExecError)
        first, _ = self.nodes.of_kind(BlockdevCreate)
        self.assertEqual([call.disk.uuid for call in self.nodes.of_kind(BlockdevRemove)], [first.disk.uuid])
        self.assertEqual(set(self.stage.snapshot.instances), {INSTANCE.uuid})

    def test_lost_answer(self) -> None:
        """A disk of which nobody knows whether it was created is removed."""
        self.nodes.fail(BlockdevCreate, "no answer", NodeUnreachableError)
        self.refused(create(), OpExecError)
        self.assert_undone()

    def test_undo_that_fails(self) -> None:
        """What could not be taken back is told, and the first error counts."""
        self.nodes.fail(InstanceOsAdd, "create script failed")
        self.nodes.fail(BlockdevRemove, "busy")
        self.assertIn("create script failed", self.refused(create(), OpExecError))
        self.assertTrue(any("could not undo" in line and "busy" in line for line in self.stage.feedback))
