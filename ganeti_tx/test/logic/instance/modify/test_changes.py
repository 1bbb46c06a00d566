"""What changes of an instance that is down come to."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.rpc.calls.disk import (
    BlockdevAssemble,
    BlockdevCreate,
    BlockdevFind,
    BlockdevRemove,
    BlockdevShutdown,
    BlockdevWipe,
)
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceInfo
from ganeti_tx.rpc.calls.node import NodeInfo
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.instance.modify.scene import FREE, WEB1, WITH_ALL, ModifyCase, changed, modify
from ganeti_tx.test.logic.network.test_networks import LAN
from ganeti_tx.test.logic.stage import RUNNING


class ParameterTests(ModifyCase):
    """Of backend, hypervisor and operating system."""

    def test_set(self) -> None:
        """They are kept in their types, and told as they were given."""
        told = self.told(beparams={"memory": "256", "vcpus": 2}, hvparams={"acpi": "true"})
        self.assertEqual(told, {"hv/acpi": "true", "be/memory": "256", "be/vcpus": 2})
        self.assertEqual(self.web1.beparams, {"maxmem": 256, "minmem": 256, "vcpus": 2})
        self.assertEqual(self.web1.hvparams, {"acpi": True})
        self.assertEqual([call.hvparams["acpi"] for call in self.nodes.of_kind(HypervisorValidateParams)], [True])

    def test_few_processors(self) -> None:
        """The node is asked how many processors it has when a single one might be shared by too many."""
        self.told(beparams={"vcpus": 2})
        self.assertEqual(self.nodes.of_kind(NodeInfo), [])
        self.told(beparams={"vcpus": 4})
        self.assertEqual(len(self.nodes.of_kind(NodeInfo)), 1)

    def test_back_to_default(self) -> None:
        """The word default takes an instance's own value away."""
        self.told(beparams={"vcpus": 2}, hvparams={"acpi": True})
        self.told(beparams={"vcpus": "default"}, hvparams={"acpi": "default"})
        self.assertEqual((self.web1.beparams, self.web1.hvparams), ({}, {}))

    def test_os(self) -> None:
        """Another OS and its parameters, judged by its own script; private values are not told; null removes one."""
        told = self.told(os_name="debian", osparams={"dhcp": "no"}, osparams_private={"key": "s3cret"})
        self.assertEqual(told, {"os/dhcp": "no", "os_private/key": "Private(?, descr='key')"})
        [call] = self.nodes.of_kind(OsValidate)
        self.assertEqual((call.os_name, call.osparams["key"], call.hypervisor), ("debian", "s3cret", None))
        self.assertEqual((self.web1.os, dict(self.web1.osparams)), ("debian", {"dhcp": "no"}))
        self.told(osparams={"dhcp": None}, osparams_private={"key": "default", "password": None})
        self.assertEqual((dict(self.web1.osparams), dict(self.web1.osparams_private)), ({}, {}))

    def test_unreachable(self) -> None:
        """Memory that cannot be checked is warned of; forced it is not asked for."""
        self.nodes.fail(NodeInfo, "gone", NodeUnreachableError)
        self.told(beparams={"maxmem": 1024})
        self.assertIn("Can't get info from primary node node1.example.com", self.stage.feedback[-1])
        self.told(beparams={"maxmem": 30000}, force=True)
        self.assertEqual(len(self.nodes.of_kind(NodeInfo)), 1)

    def test_ignored_policy(self) -> None:
        """What the policy forbids is only warned of when it is to be ignored."""
        self.told(beparams={"vcpus": 99}, ignore_ipolicy=True)
        self.assertIn("cpu-count value 99", self.stage.feedback[-1])

    def test_locks(self) -> None:
        """The instance for itself, its nodes and networks not."""
        self.run_op(modify(nics=[["add", -1, {"network": "lan"}]]))
        self.assertEqual(self.stage.locked[f"instance/{WEB1}"], "exclusive")
        self.assertEqual(self.stage.locked["node/node1-uuid"], "shared")
        self.assertEqual(self.stage.locked["network/lan-uuid"], "shared")

    def test_one_change(self) -> None:
        """All at once, by one change of the configuration."""
        before = self.stage.snapshot.serial_no
        self.told(beparams={"vcpus": 2}, nics=[["add", -1, {}]], disks=[["modify", 0, {"mode": "ro"}]], offline=True)
        self.assertEqual(self.stage.snapshot.serial_no, before + 1)

    def test_nothing_new(self) -> None:
        """What is so already is told and not changed."""
        before = self.stage.snapshot
        self.assertEqual(self.told(offline=False), {"admin_state": "down"})
        self.assertIs(self.stage.snapshot, before)


class StateTests(ModifyCase):
    """Marks and places."""

    def test_offline(self) -> None:
        """There and back."""
        self.assertEqual(self.told(offline=True), {"admin_state": "offline"})
        self.assertEqual(self.web1.admin_state, AdminState.OFFLINE)
        self.assertEqual(self.told(offline=False), {"admin_state": "down"})
        self.assertEqual(self.web1.admin_state, AdminState.DOWN)

    def test_new_primary(self) -> None:
        """The disks are said to be there, too; what the node does not have is warned of."""
        self.assertEqual(self.told(pnode="node2"), {})
        self.assertEqual(self.web1.primary_node, "node2-uuid")
        self.assertEqual({disk.nodes for disk in self.disks()}, {("node2-uuid",)})
        self.assertEqual(
            {node for node, call in self.nodes.sent if isinstance(call, BlockdevFind)}, {"node2.example.com"}
        )
        self.assertIn("disk/1 is not on node node2.example.com", self.stage.feedback[-1])


class NicTests(ModifyCase):
    """NICs, as a stack and by index, name and uuid."""

    def names(self) -> list[str | None]:
        """Those of its NICs."""
        return [nic.name for nic in self.web1.nics]

    def test_in_order(self) -> None:
        """Each change sees those before it."""
        told = self.told(
            nics=[
                ["add", -1, {"name": "last", "mac": "aa:00:00:00:00:09"}],
                ["remove", "out", {}],
                ["add", 0, {"name": "first"}],
                ["modify", "nic2-uuid", {"name": "inner"}],
                ["remove", -1, {}],
            ]
        )
        self.assertEqual(self.names(), ["first", "inner"])
        lines = ["nic.2", "NIC/0", "nic.0", "nic.name/1", "nic.link/1", "nic.mode/1", "nic.vlan/1", "NIC/2"]
        self.assertEqual(list(told), lines)
        self.assertEqual(told["nic.2"], "add:mac=aa:00:00:00:00:09,ip=None,mode=bridged,link=xen-br0,network=None")

    def test_named_like_another(self) -> None:
        """One that has got the uuid of another one as its name gets no change that is meant for the other."""
        nics = tuple(replace(nic, name="nic2-uuid" if nic.uuid == "nic-uuid" else nic.name) for nic in self.web1.nics)
        web1 = replace(self.web1, nics=nics)
        self.stage = self.make_stage(
            replace(self.stage.snapshot, instances={**self.stage.snapshot.instances, web1.uuid: web1})
        )
        self.nodes = self.stage.nodes
        self.run_op(modify(WEB1, nics=[["remove", "nic2-uuid", {}]]))
        self.assertEqual([nic.uuid for nic in self.web1.nics], ["nic-uuid"])

    def test_network(self) -> None:
        """Into a network, with an address of its pool and a new MAC address; the address is taken in the same change."""
        told = self.told(nics=[["modify", 0, {"network": "lan", "ip": "pool"}]])
        [nic, _] = self.web1.nics
        self.assertEqual((nic.network, nic.ip, told["nic.network/0"]), (LAN.uuid, "198.51.100.3", "lan"))
        self.assertNotEqual(nic.mac, "aa:00:00:00:00:01")
        self.assertTrue(AddressPool(self.stage.snapshot.networks[LAN.uuid]).is_taken("198.51.100.3"))
        self.told(nics=[["remove", 0, {}]])
        self.assertFalse(AddressPool(self.stage.snapshot.networks[LAN.uuid]).is_taken("198.51.100.3"))

    def test_own_address(self) -> None:
        """An address and a MAC address go from one NIC to another one in one request."""
        self.told(
            nics=[
                ["remove", "in", {}],
                ["add", -1, {"network": "lan", "ip": "198.51.100.4", "mac": "aa:00:00:00:00:02", "name": "next"}],
            ]
        )
        self.assertEqual([(nic.ip, nic.mac[-2:]) for nic in self.web1.nics][1:], [("198.51.100.4", "02")])

    def test_out_of_network(self) -> None:
        """Without its address it keeps how it is connected."""
        self.told(nics=[["modify", "in", {"network": "none", "ip": "none"}]])
        nic = self.web1.nics[1]
        self.assertEqual((nic.network, nic.ip, nic.nicparams["link"]), (None, None, "br0"))

    def test_words(self) -> None:
        """None and default clear, generate chooses."""
        self.told(nics=[["modify", 0, {"name": "none", "mode": "routed", "link": "100", "ip": "192.0.2.7"}]])
        self.assertEqual(self.web1.nics[0].nicparams, {"mode": "routed", "link": "100"})
        self.told(nics=[["modify", 0, {"mode": "default", "link": "default", "ip": "none", "mac": "generate"}]])
        nic = self.web1.nics[0]
        self.assertEqual((nic.name, nic.ip, dict(nic.nicparams)), (None, None, {}))
        self.assertNotEqual(nic.mac, "aa:00:00:00:00:01")


class CommunicationTests(ModifyCase):
    """The NIC by which an instance talks to its node."""

    initial = replace(WITH_ALL, cluster=replace(WITH_ALL.cluster, instance_communication_network="lan"))

    def test_there_and_back(self) -> None:
        """It comes last, with an address of its network, and goes; a second time changes nothing."""
        for _ in range(2):
            self.told(instance_communication=True)
            nic = self.web1.nics[-1]
            self.assertEqual((nic.name, nic.network), (f"ganeti:communication:{WEB1}", LAN.uuid))
            self.assertEqual((len(self.web1.nics), nic.ip), (3, "198.51.100.3"))
        for _ in range(2):
            self.told(instance_communication=False)
            self.assertEqual([each.name for each in self.web1.nics], ["out", "in"])

    def test_stays_last(self) -> None:
        """Whatever comes behind the others comes before it, and is told so."""
        self.told(instance_communication=True)
        for name, place in (("third", -1), ("fourth", 4)):
            told = self.told(nics=[["add", place, {"name": name}]])
            self.assertEqual([key for key in told if key.startswith("nic.")], [f"nic.{len(self.web1.nics) - 2}"])
        self.assertEqual(
            [each.name for each in self.web1.nics[2:]], ["third", "fourth", f"ganeti:communication:{WEB1}"]
        )


class HookTests(ModifyCase):
    """What scripts are told of the request."""

    def values(self, **params: Any) -> dict[str, object]:
        """Before the change."""
        unit = UNITS[OpInstanceSetParams](modify(**params), self.stage.context())
        for step in (unit.expand_names(), unit.check()):
            self.successResultOf(Deferred.fromCoroutine(step))
        return dict(self.successResultOf(Deferred.fromCoroutine(unit.hook_values())))

    def test_memory(self) -> None:
        """The memory only if it was asked for; memory and NICs as they are to be, disks as they are."""
        self.nodes.answer(InstanceInfo, RUNNING)
        told = self.values(runtime_mem=128)
        self.assertEqual((told["RUNTIME_MEMORY"], "NEW_DISK_TEMPLATE" in told), (128, False))
        told = self.values(beparams={"maxmem": 256}, nics=[["remove", 0, {}]], disks=[["add", -1, {"size": 1024}]])
        self.assertNotIn("RUNTIME_MEMORY", told)
        self.assertEqual((told["INSTANCE_MAXMEM"], told["INSTANCE_BE_maxmem"]), (256, 128))
        self.assertEqual((told["INSTANCE_NIC_COUNT"], told["INSTANCE_DISK_COUNT"]), (1, 2))


class DiskTests(ModifyCase):
    """Disks, likewise."""

    def test_add(self) -> None:
        """Beside the others, ready while all are compared, then down again; its place is where it was asked for."""
        told = self.told(disks=[["add", 1, {"size": 1024, "mode": "ro", "name": "new"}]])
        self.assertEqual(told, {"disk/1": "add:size=1024,mode=ro"})
        self.assertEqual([disk.name for disk in self.disks()], ["root", "new", "log"])
        self.assertEqual([disk.iv_name for disk in self.disks()], ["disk/0", "disk/1", "disk/2"])
        new = self.disks()[1]
        self.assertTrue(str((new.logical_id or ("", ""))[1]).startswith(f"/srv/ganeti/file-storage/{WEB1}/"))
        done = [call for _, call in self.nodes.sent if not isinstance(call, NodeInfo)]
        kinds = [type(call) for call in done if getattr(call, "disk", None) is not None]
        self.assertEqual(kinds, [BlockdevCreate, BlockdevAssemble, BlockdevShutdown])
        self.assertIn("* disk 1, size 1.0G", self.stage.feedback)

    def test_wiped(self) -> None:
        """Where the cluster wants it, before anybody has it; what is attached keeps its data."""
        cluster = replace(WITH_ALL.cluster, prealloc_wipe_disks=True)
        self.stage = self.make_stage(replace(WITH_ALL, cluster=cluster))
        self.nodes = self.stage.nodes
        self.nodes.succeed(BlockdevWipe)
        self.told(disks=[["attach", -1, {"name": "old"}], ["add", -1, {"size": 1024}]])
        new = self.disks()[-1]
        self.assertEqual({call.disk.uuid for call in self.nodes.of_kind(BlockdevWipe)}, {new.uuid})
        self.assertEqual(sum(call.size for call in self.nodes.of_kind(BlockdevWipe)), 1024)

    def test_stays_ready(self) -> None:
        """Where the others are."""
        self.stage = self.make_stage(changed(WITH_ALL, disks_active=True))
        self.nodes = self.stage.nodes
        self.told(disks=[["add", -1, {"size": 1024}]], wait_for_sync=False)
        self.assertEqual(self.nodes.of_kind(BlockdevShutdown), [])

    def test_remove(self) -> None:
        """By name: the configuration lets it go first, then its data are removed, then it is forgotten."""
        self.told(disks=[["remove", "root", {}]])
        self.assertEqual([disk.name for disk in self.disks()], ["log"])
        self.assertEqual(self.disks()[0].iv_name, "disk/0")
        self.assertNotIn("disk-uuid", self.stage.snapshot.disks)
        [call] = self.nodes.of_kind(BlockdevRemove)
        self.assertEqual((call.disk.uuid, call.disk.index), ("disk-uuid", 1))

    def test_remove_fails(self) -> None:
        """What a node may still have the configuration keeps as nobody's, and it can be had and removed again."""
        self.nodes.fail(BlockdevRemove, "no")
        error = self.refused(modify(disks=[["remove", -1, {}]]), OpExecError)
        self.assertIn("--disk attach:uuid=disk2-uuid", error)
        self.assertEqual(len(self.disks()), 1)
        self.assertIn("disk2-uuid", self.stage.snapshot.disks)
        self.nodes.succeed(BlockdevRemove)
        self.told(disks=[["attach", -1, {"uuid": "disk2-uuid"}]])
        self.told(disks=[["remove", -1, {}]])
        self.assertNotIn("disk2-uuid", self.stage.snapshot.disks)

    def test_detach_and_attach(self) -> None:
        """Data stay; in one request, too."""
        told = self.told(disks=[["detach", "log", {}], ["attach", 0, {"name": "old"}]])
        self.assertEqual(told, {"disk/1": "detach", "disk/0": "attach:size=1500,mode=rw"})
        self.assertEqual([disk.uuid for disk in self.disks()], [FREE.uuid, "disk-uuid"])
        self.assertEqual(self.nodes.of_kind(BlockdevRemove), [])
        self.told(disks=[["attach", -1, {"uuid": "disk2-uuid"}]])
        self.assertEqual(len(self.disks()), 3)

    def test_added_and_removed(self) -> None:
        """What comes and leaves in one request is never made."""
        self.told(disks=[["add", -1, {"size": 1024}], ["remove", -1, {}]])
        self.assertEqual(self.nodes.of_kind(BlockdevCreate), [])

    def test_creation_fails(self) -> None:
        """All is as before."""
        before = self.stage.snapshot
        self.nodes.fail(BlockdevCreate, "disk full")
        error = self.refused(modify(disks=[["add", -1, {"size": 1024}]], beparams={"vcpus": 2}), OpExecError)
        self.assertIn("could not create disk/2 of instance web1.example.com: ", error)
        self.assertIs(self.stage.snapshot, before)
