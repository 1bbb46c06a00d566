"""Renaming on a stage: what is locked, asked, and taken back."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance_communication import nic_name
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.opcodes.instance import OpInstanceRename
from ganeti_tx.rpc.calls.disk import BlockdevRename, BlockdevShutdown
from ganeti_tx.rpc.calls.instance import InstanceInfo, InstanceRunRename, InstanceShutdown, RunningInstance
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.test.logic.stage import CONFIG, FILE_DIR, INSTANCE, UnitTestCase

RENAME = OpInstanceRename(instance_name="web1", new_name="web2")
NEW = "web2.example.com"


class RenameTests(UnitTestCase):
    """web1 becomes web2."""

    def test_locks(self) -> None:
        """Both names are locked; the old one is no lock afterwards."""
        self.run_op(RENAME)
        locked = {name for name in self.stage.locked if name.startswith("instance/")}
        self.assertEqual(locked, {"instance/web1.example.com", "instance/web2.example.com"})

    def test_communication(self) -> None:
        """The NIC by which it talks to its node is named after it, too; others keep their names."""
        held = CONFIG.instances[INSTANCE.uuid]
        nics = [
            Nic(uuid=name, mac=f"aa:00:00:00:99:0{n}", name=name, nicparams={})
            for n, name in enumerate((nic_name(held.name), "x"))
        ]
        instances = {**CONFIG.instances, held.uuid: replace(held, nics=tuple(nics))}
        self.stage = self.make_stage(replace(CONFIG, instances=instances))
        self.run_op(RENAME)
        self.assertEqual([nic.name for nic in self.stage.snapshot.instances[held.uuid].nics], [nic_name(NEW), "x"])

    def test_order(self) -> None:
        """The node moves the disk, then the guest is told; the script sees new places only."""
        self.run_op(RENAME)
        (moved,) = self.nodes.of_kind(BlockdevRename)
        (told,) = self.nodes.of_kind(InstanceRunRename)
        new = ["loop", f"{FILE_DIR}/{NEW}/disk0"]
        self.assertEqual((moved.owner, moved.logical_id), ("web1.example.com", new))
        self.assertEqual((told.old_name, told.instance.name), ("web1.example.com", NEW))
        self.assertEqual(list(told.instance.disks[0].logical_id or ()), new)
        self.assertEqual(self.nodes.of_kind(OsValidate)[0].scripts, ["rename"])

    def test_disk_stays(self) -> None:
        """When the node refuses to move a disk, all is as it was, and there is nothing to take back."""
        self.nodes.fail(BlockdevRename, "no")
        self.assertIn("could not rename disk/0", self.refused(RENAME, OpExecError))
        self.assertEqual(len(self.nodes.of_kind(BlockdevRename)), 1)
        self.assertEqual(self.stage.snapshot.instances, CONFIG.instances)

    def test_disk_elsewhere(self) -> None:
        """A disk in a directory that is not named after the instance stays where it is."""
        (disk,) = CONFIG.disks.values()
        other = replace(disk, logical_id=("loop", f"{FILE_DIR}/other/disk0"))
        self.stage = self.make_stage(replace(CONFIG, disks={other.uuid: other}))
        self.run_op(RENAME)
        self.assertEqual(self.stage.nodes.of_kind(BlockdevRename), [])
        self.assertEqual(self.stage.snapshot.disks[other.uuid], other)

    def test_disks_ready(self) -> None:
        """Disks that somebody has made ready go down, by the old name, and are not said to be ready."""
        ready = replace(INSTANCE, disks_active=True)
        self.stage = self.make_stage(replace(CONFIG, instances={ready.uuid: ready}))
        self.run_op(RENAME)
        owners = [call.owner for call in self.stage.nodes.of_kind(BlockdevShutdown)]
        self.assertEqual(owners, ["web1.example.com", NEW])
        self.assertFalse(self.stage.snapshot.instances[ready.uuid].disks_active)

    def test_shut_down_by_its_user(self) -> None:
        """What is left of a run that the user ended is cleared away first."""
        left = RunningInstance(memory=128, vcpus=1, state=1, time=1.0)
        self.nodes.answers[InstanceInfo] = lambda _node, call: None if call.instance_name == NEW else left
        self.run_op(RENAME)
        self.assertEqual(self.nodes.of_kind(InstanceShutdown)[0].instance_name, "web1.example.com")

    def test_offline(self) -> None:
        """One that is marked offline is stopped, too."""
        marked = replace(INSTANCE, admin_state=AdminState.OFFLINE)
        self.stage = self.make_stage(replace(CONFIG, instances={marked.uuid: marked}))
        self.run_op(RENAME)
        self.assertIs(self.stage.snapshot.instances[marked.uuid].admin_state, AdminState.OFFLINE)

    def test_address_in_use(self) -> None:
        """An address that a node has, or that answers, is refused."""
        for name in ("taken", "alive"):
            op = OpInstanceRename(instance_name="web1", new_name=name)
            self.assertIn("already in use", self.refused(op, OpPrereqError))
        self.run_op(OpInstanceRename(instance_name="web1", new_name="alive", ip_check=False))

    def test_no_script_there(self) -> None:
        """Where its node has not that OS any more, the guest is not told."""
        self.nodes.answer(OsValidate, False)
        self.run_op(RENAME)
        self.assertEqual(self.nodes.of_kind(InstanceRunRename), [])
        self.assertIn("what is installed keeps its name", "".join(self.stage.feedback))
