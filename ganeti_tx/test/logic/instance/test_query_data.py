"""Tests of telling everything about instances."""

import json

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.cli.instance.info import described
from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.instance.query_data import LUInstanceQueryData
from ganeti_tx.model.guest_interface import GuestInterface, GuestInterfaces
from ganeti_tx.model.hypervisors import CLUSTER_ONLY
from ganeti_tx.model.opcodes import OpInstanceQueryData
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.calls.guest import GuestAddresses
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, RUNNING, UnitTestCase
from ganeti_tx.test.model.samples import DISK

NAME = INSTANCE.name
STATUS = BlockDevStatus(dev_path="/x", size=1024, major=7, minor=1)
#: The same as it is shown.
STATE = ["/x", 7, 1, None, None, False, 1]


class QueryDataTests(UnitTestCase):
    """OP_INSTANCE_QUERY_DATA."""

    def test_static(self) -> None:
        """The configuration alone answers: no node is asked, no lock but the big one is held."""
        data = self.run_op(OpInstanceQueryData(static=True))[NAME]
        self.assertEqual(self.nodes.sent, [])
        self.assertEqual(self.stage.locked, {"cluster/BGL": "shared"})
        self.assertEqual((data["pnode"], data["snodes"]), ("node1.example.com", []))
        self.assertEqual((data["config_state"], data["run_state"]), ("down", None))
        self.assertEqual(data["be_instance"], {})
        self.assertEqual(data["be_actual"]["maxmem"], 128)
        self.assertEqual(data["hv_actual"]["acpi"], False)
        self.assertEqual(data["nics"][0][3:6], ["aa:00:00:00:00:01", "bridged", "xen-br0"])
        self.assertEqual(data["disks"][0]["size"], 1024)

    def test_of_the_cluster_alone(self) -> None:
        """Hypervisor parameters that no instance can set are not shown with one."""
        shown = self.run_op(OpInstanceQueryData(static=True))[NAME]["hv_actual"]
        self.assertEqual(sorted(CLUSTER_ONLY & set(shown)), [])

    def test_from_the_nodes(self) -> None:
        """The nodes tell what runs and how the disks are."""
        self.nodes.answer(AllInstancesInfo, {NAME: RUNNING})
        self.nodes.answers[BlockdevStates] = lambda node, call: [DiskState(STATUS) for _ in call.disks]
        data = self.run_op(OpInstanceQueryData(instances=("web1",)))[NAME]
        self.assertEqual(data["run_state"], "up")
        self.assertEqual(data["disks"][0]["pstatus"], STATE)
        self.assertEqual(self.stage.locked["instance/web1.example.com"], "shared")

    def test_addresses(self) -> None:
        """The guest of one that runs and has an agent is asked for them; it does not tell those of another one."""
        self.assertIsNone(self.run_op(OpInstanceQueryData(static=True))[NAME]["guest_interfaces"])
        told = GuestInterfaces(
            interfaces=[GuestInterface(name="eth0", mac="aa:00", addresses=["192.0.2.7"])], left_out=3
        )
        with_agent = replace(INSTANCE, hvparams={"use_guest_agent": True})
        self.stage = self.make_stage(replace(CONFIG, instances={with_agent.uuid: with_agent}))
        self.nodes = self.stage.nodes
        self.nodes.answer(AllInstancesInfo, {NAME: RUNNING})
        self.nodes.answers[BlockdevStates] = lambda node, call: [DiskState(STATUS) for _ in call.disks]
        self.nodes.answer(GuestAddresses, {NAME: told, "other.example.com": told})
        self.assertEqual(
            self.run_op(OpInstanceQueryData())[NAME]["guest_interfaces"],
            {"interfaces": [{"name": "eth0", "mac": "aa:00", "addresses": ["192.0.2.7"]}], "left_out": 3},
        )
        self.nodes.fail(GuestAddresses, "gone", NodeUnreachableError)
        self.assertIsNone(self.run_op(OpInstanceQueryData())[NAME]["guest_interfaces"])

    def test_addresses_of_another(self) -> None:
        """What a node tells of a guest that another node runs does not count."""
        agent = {"use_guest_agent": True}
        one = replace(INSTANCE, hvparams=agent)
        other = {"primary_node": "node2-uuid", "disks": (), "nics": (), "network_port": 11001}
        two = replace(one, uuid="web2-uuid", name="web2.example.com", **other)
        self.stage = self.make_stage(replace(CONFIG, instances={each.uuid: each for each in (one, two)}))
        self.nodes = self.stage.nodes
        self.nodes.answer(AllInstancesInfo, {one.name: RUNNING, two.name: RUNNING})
        self.nodes.answers[BlockdevStates] = lambda node, call: [DiskState(STATUS) for _ in call.disks]
        lies = {name: GuestInterfaces(interfaces=[], left_out=7) for name in (one.name, two.name)}
        self.nodes.answers[GuestAddresses] = lambda node, call: lies if node == "node2.example.com" else {}
        data = self.run_op(OpInstanceQueryData())
        self.assertIsNone(data[one.name]["guest_interfaces"])
        self.assertEqual(data[two.name]["guest_interfaces"]["left_out"], 7)

    def test_halted(self) -> None:
        """One that its hypervisor has stopped after an error is not up; it is said why."""
        self.nodes.answer(AllInstancesInfo, {NAME: replace(RUNNING, state=2, why="io-error")})
        self.nodes.answers[BlockdevStates] = lambda node, call: [DiskState(STATUS) for _ in call.disks]
        self.assertEqual(self.run_op(OpInstanceQueryData(instances=("web1",)))[NAME]["run_state"], "halted (io-error)")

    def test_node_that_does_not_answer(self) -> None:
        """Its instances' state is unknown, with a warning; the rest is told."""
        self.nodes.fail(AllInstancesInfo, "gone")
        self.nodes.answers[BlockdevStates] = lambda node, call: [DiskState(STATUS) for _ in call.disks]
        data = self.run_op(OpInstanceQueryData())[NAME]
        self.assertEqual(data["run_state"], "unknown")
        self.assertIn("gone", self.stage.feedback[-1])
        self.assertEqual(data["disks"][0]["pstatus"], STATE)

    def test_silent_node(self) -> None:
        """One that cannot be reached is not asked for its disks, too: whoever asks would wait twice for nothing."""
        self.nodes.fail(AllInstancesInfo, "gone", NodeUnreachableError)
        data = self.run_op(OpInstanceQueryData())[NAME]
        self.assertEqual((data["run_state"], data["disks"][0]["pstatus"]), ("unknown", None))
        self.assertEqual(self.nodes.kinds(), [AllInstancesInfo.name])
        self.assertEqual(len(self.stage.feedback), 1)

    def test_disks_of_which_nothing_is_told(self) -> None:
        """A disk may not be there, or its storage not tell, or the node not know the call: the others are told."""
        self.nodes.answer(AllInstancesInfo, {})
        self.nodes.answer(BlockdevStates, [DiskState()])
        self.assertIsNone(self.run_op(OpInstanceQueryData())[NAME]["disks"][0]["pstatus"])
        self.nodes.answer(BlockdevStates, [DiskState(fault="no such pool")])
        self.assertIsNone(self.run_op(OpInstanceQueryData())[NAME]["disks"][0]["pstatus"])
        self.nodes.fail(BlockdevStates, "unknown call")
        self.assertIsNone(self.run_op(OpInstanceQueryData())[NAME]["disks"][0]["pstatus"])

    def test_both_sides(self) -> None:
        """Each node is asked once for all, what mirrors are made of included, and each state finds its place."""
        mirrored = replace(INSTANCE, network_port=None)
        self.stage = self.make_stage(replace(CONFIG, disks={DISK.uuid: DISK}, instances={mirrored.uuid: mirrored}))
        self.nodes = self.stage.nodes
        self.nodes.answer(AllInstancesInfo, {})
        self.nodes.answers[BlockdevStates] = lambda node, call: [
            DiskState(replace(STATUS, dev_path=f"/{node.split('.')[0]}/{each.uuid}")) for each in call.disks
        ]
        (disk,) = self.run_op(OpInstanceQueryData())[NAME]["disks"]
        for shown, configured in ((disk, DISK), *zip(disk["children"], DISK.children, strict=True)):
            paths = [shown[side][0] for side in ("pstatus", "sstatus")]
            self.assertEqual(paths, [f"/node1/{configured.uuid}", f"/node2/{configured.uuid}"])
        calls = self.nodes.of_kind(BlockdevStates)
        self.assertEqual([len(call.disks) for call in calls], [3, 3])
        self.assertNotIn("s3cret", str(calls))

    def test_no_secrets(self) -> None:
        """Private OS parameters and a mirror's secret are not in the result, which is kept in job files."""
        mirrored = replace(INSTANCE, network_port=None)
        self.stage = self.make_stage(replace(CONFIG, disks={DISK.uuid: DISK}, instances={mirrored.uuid: mirrored}))
        data = self.run_op(OpInstanceQueryData(static=True))
        self.assertNotIn("s3cret", json.dumps(data))
        self.assertEqual(data[NAME]["snodes"], ["node2.example.com"])
        self.assertEqual(data[NAME]["disks"][0]["logical_id"][:2], ["node1.example.com", "node2.example.com"])
        self.assertEqual(len(data[NAME]["disks"][0]["children"]), 2)

    def test_sides_of_a_mirror(self) -> None:
        """Ganeti's own gnt-instance info looks for them by these names; a disk of another kind has none."""
        mirrored = replace(INSTANCE, network_port=None)
        self.stage = self.make_stage(replace(CONFIG, disks={DISK.uuid: DISK}, instances={mirrored.uuid: mirrored}))
        (disk,) = self.run_op(OpInstanceQueryData(static=True))[NAME]["disks"]
        node_a, node_b, port, minor_a, minor_b = disk["logical_id"]
        told = {"primary_node": node_a, "secondary_node": node_b, "primary_minor": minor_a, "secondary_minor": minor_b}
        self.assertEqual(disk["drbd_info"], {**told, "port": port})
        self.assertEqual([child["drbd_info"] for child in disk["children"]], [None, None])
        volumes = ["/".join(child["logical_id"]) for child in disk["children"]]
        self.assertEqual([disk["volume"], *(child["volume"] for child in disk["children"])], [None, *volumes])

    def test_as_the_command_shows_it(self) -> None:
        """gnt-instance info finds all that it shows."""
        shown = dict(described(self.run_op(OpInstanceQueryData(static=True))[NAME], in_roman=False))
        self.assertEqual(shown["Instance name"], NAME)
        self.assertEqual(shown["Disk template"], "file")

    def test_unknown(self) -> None:
        """A name that is not there is refused."""
        self.assertIn("ghost", self.refused(OpInstanceQueryData(instances=("ghost",)), OpPrereqError))

    def test_renamed(self) -> None:
        """One that is renamed while its lock is waited for is not told of under its former name, nor under the new one."""
        unit = LUInstanceQueryData(OpInstanceQueryData(instances=(NAME,)), self.stage.context())
        self.successResultOf(Deferred.fromCoroutine(unit.expand_names()))
        renamed = self.stage.config.rename_instance(INSTANCE.uuid, "secret.example.com", {})
        self.successResultOf(Deferred.fromCoroutine(renamed))
        error = self.failureResultOf(Deferred.fromCoroutine(unit.check()), OpPrereqError).value
        self.assertEqual(str(error.args[0]), f"instance {NAME} was renamed meanwhile; ask again")
