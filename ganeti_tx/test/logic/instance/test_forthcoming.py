"""Tests of instances that are only reserved, and of committing them."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError
from ganeti_tx.model.enums import AdminState, DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.opcodes import OpInstanceCreate, OpInstanceRemove, OpInstanceStartup
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import InstanceCreateMode, NicKey
from ganeti_tx.rpc.calls.base import Question
from ganeti_tx.rpc.calls.instance import InstanceOsAdd
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.network.test_networks import CONNECTED, NetworkCase

NAME = "web2.example.com"
LAN = {NicKey.NETWORK: "lan", NicKey.IP: "pool"}


def commit(**said: Any) -> OpInstanceCreate:
    """A request that commits the reservation, and says no more than it is told."""
    given = {"disks": (), "nics": ({},), "commit": True, **said}
    return OpInstanceCreate(instance_name="web2", mode=InstanceCreateMode.CREATE, **given)


class ForthcomingTests(NetworkCase):
    """OP_INSTANCE_CREATE with `forthcoming` and with `commit`."""

    initial = CONNECTED

    def made(self) -> Instance:
        """The instance as the configuration has it."""
        return next(each for each in self.stage.snapshot.instances.values() if each.name == NAME)

    def reserve(self, **said: Any) -> Instance:
        """Reserve it."""
        self.run_op(create(forthcoming=True, nics=(LAN, {NicKey.LINK: "br7"}), **said))
        return self.made()

    def test_reserved(self) -> None:
        """Names, addresses and disks are its own, but no node has anything of it, and it is not to run."""
        held = self.reserve()
        self.assertEqual([call.name for _, call in self.nodes.sent if not isinstance(call, Question)], [])
        self.assertTrue(held.forthcoming)
        self.assertEqual((held.admin_state, held.disks_active), (AdminState.DOWN, False))
        disks = [self.stage.snapshot.disks[uuid] for uuid in held.disks]
        self.assertEqual([(disk.size, disk.forthcoming) for disk in disks], [(2048, True), (1024, True)])
        self.assertIn(held.nics[0].ip, self.network_addresses())
        self.assertEqual(
            self.stage.feedback[-5:],
            [
                "Instance is forthcoming, not creating disks",
                "adding instance web2.example.com to cluster config",
                "adding disks to cluster config",
                f"- INFO: Instance web2.example.com has UUID {held.uuid}",
                "Instance is forthcoming; not creating the actual instance",
            ],
        )

    def network_addresses(self) -> list[str | None]:
        """Those that instances have in lan."""
        instances = self.stage.snapshot.instances.values()
        return [nic.ip for each in instances for nic in each.nics if nic.network is not None]

    def test_name_is_taken(self) -> None:
        """Nobody else gets it."""
        self.reserve()
        self.bad(create(), ECode.EXISTS, "already in the cluster")

    def test_committed(self) -> None:
        """What is not said is as it was reserved: uuid, addresses, port, place; disks are made, it is installed and runs."""
        held = self.reserve(osparams={"flavour": "mint"}, osparams_private={"key": Private("p")}, tags=("one",))
        self.assertEqual(self.run_op(commit()), ["node2.example.com"])
        made = self.made()
        self.assertFalse(made.forthcoming)
        self.assertEqual(made.admin_state, AdminState.UP)
        for name in ("uuid", "primary_node", "network_port", "beparams", "osparams", "osparams_private", "os", "tags"):
            self.assertEqual(getattr(made, name), getattr(held, name), name)
        self.assertEqual(
            [(nic.mac, nic.ip, nic.nicparams) for nic in made.nics],
            [(nic.mac, nic.ip, nic.nicparams) for nic in held.nics],
        )
        disks = [self.stage.snapshot.disks[uuid] for uuid in made.disks]
        self.assertEqual(
            [(disk.size, disk.mode, disk.forthcoming) for disk in disks], [(2048, "rw", False), (1024, "ro", False)]
        )
        self.assertEqual(len(self.stage.snapshot.disks), len(CONNECTED.disks) + 2)
        self.assertEqual(
            self.nodes.kinds()[-4:], ["blockdev_create", "blockdev_create", "instance_os_add", "instance_start"]
        )

    def test_committed_otherwise(self) -> None:
        """What is said counts; addresses that it does not have any more are free again."""
        held = self.reserve()
        changes = {"pnode": "node1", "disks": ({"size": 4096},), "disk_template": DiskTemplate.FILE, "nics": ({},)}
        self.run_op(commit(**changes, beparams={"memory": 256, "vcpus": 2}, start=False))
        made = self.made()
        self.assertEqual(made.primary_node, "node1-uuid")
        self.assertEqual(made.beparams, {"minmem": 256, "maxmem": 256, "vcpus": 2})
        self.assertEqual([self.stage.snapshot.disks[uuid].size for uuid in made.disks], [4096])
        self.assertEqual(made.uuid, held.uuid)

    def test_other_interfaces(self) -> None:
        """One in the same network keeps what it had; those that are left out give their addresses back."""
        held = self.reserve()
        self.run_op(commit(nics=(LAN,)))
        self.assertEqual([(nic.mac, nic.ip) for nic in self.made().nics], [(held.nics[0].mac, held.nics[0].ip)])
        self.assertEqual(len([each for each in self.network_addresses() if each]), self.network_count())

    def network_count(self) -> int:
        """How many addresses of lan are taken."""
        return (self.network().reservations or "").count("1")

    def test_taken_back(self) -> None:
        """When it cannot be installed it is forthcoming again, as it was."""
        held = self.reserve()
        disks = {uuid: self.stage.snapshot.disks[uuid] for uuid in held.disks}
        self.nodes.fail(InstanceOsAdd, "no")
        self.refused(commit(nics=(LAN,)), OpExecError)
        now = self.made()
        self.assertEqual(replace(now, serial_no=held.serial_no, mtime=held.mtime), held)
        kept = {uuid: self.stage.snapshot.disks[uuid] for uuid in now.disks}
        self.assertEqual(
            {uuid: disk.logical_id for uuid, disk in kept.items()},
            {uuid: disk.logical_id for uuid, disk in disks.items()},
        )
        self.nodes.succeed(InstanceOsAdd)
        self.run_op(commit())

    def test_nothing_to_commit(self) -> None:
        """There must be a reservation, and it must be none any more when it has been committed."""
        self.bad(commit(), ECode.NOENT, "web2")
        self.reserve()
        self.run_op(commit())
        self.bad(commit(), ECode.EXISTS, "created already")
        self.bad(create(forthcoming=True, commit=True), ECode.INVAL, "exclude each other")

    def test_not_there_yet(self) -> None:
        """It cannot be started; it can be removed, without asking any node."""
        self.reserve()
        before = len(self.nodes.sent)
        self.bad(OpInstanceStartup(instance_name="web2"), ECode.STATE, "gnt-instance add --commit web2.example.com")
        self.run_op(OpInstanceRemove(instance_name="web2"))
        self.assertEqual(self.nodes.sent[before:], [])
        self.assertEqual(set(self.stage.snapshot.instances), set(CONNECTED.instances))
        self.assertEqual(self.stage.snapshot.disks, CONNECTED.disks)
        self.assertEqual(self.network().reservations, CONNECTED.networks["lan-uuid"].reservations)
