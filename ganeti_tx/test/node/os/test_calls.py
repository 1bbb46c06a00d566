"""Tests of the node calls about OS definitions."""

from ganeti_tx.errors import BlockDeviceError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.os.calls import OsCalls
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.rpc.calls.instance import InstanceOsAdd
from ganeti_tx.rpc.calls.os import OsDiagnose, OsValidate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.storage import FakeStorage, only
from ganeti_tx.test.node.os.test_environment import DISK
from ganeti_tx.test.node.os.test_scripts import SPEC, ScriptsTestCase


class OsCallsTests(ScriptsTestCase):
    """Through the dispatch."""

    def setUp(self) -> None:
        super().setUp()
        self.store = FakeStorage("file")
        calls = OsCalls(self.scripts, Disks(only(self.store), DiskLinks(MemoryFiles(), Paths())), InlineThreads())
        self.dispatch = NodeDispatch(calls)

    def test_add(self) -> None:
        """The disks are ready before the script runs, which is told their paths."""
        self.answer("create")
        self.get(self.store.create(DISK))
        self.get(self.dispatch.perform(InstanceOsAdd(instance=SPEC)))
        (call,) = self.runner.calls
        self.assertEqual(call.env["DISK_0_PATH"], "/srv/d0")
        self.assertTrue(all(disk.assembled for disk in self.store.disks.values()))

    def test_add_without_disk(self) -> None:
        """Without its disk nothing runs."""
        self.answer("create")
        self.failed(self.dispatch.perform(InstanceOsAdd(instance=SPEC)), GanetiError)
        self.assertEqual(self.runner.calls, [])

    def test_add_broken_disk(self) -> None:
        """A disk that breaks says so."""

        def broken(operation: str, disk: DiskSpec) -> BlockDeviceError:
            return BlockDeviceError("disk is broken")

        self.store.fault = broken
        self.assertEqual(
            self.failed(self.dispatch.perform(InstanceOsAdd(instance=SPEC)), BlockDeviceError), "disk is broken"
        )

    def test_diagnose(self) -> None:
        """Every definition has a row."""
        rows = self.get(self.dispatch.perform(OsDiagnose()))
        self.assertEqual([row.name for row in rows], ["debian"])

    def test_validate(self) -> None:
        """The answer of validating, or one line."""
        self.answer("verify")
        right = OsValidate(required=True, os_name="debian+lenny", checks=["parameters"], osparams={"dhcp": "yes"})
        self.assertTrue(self.get(self.dispatch.perform(right)))
        wrong = OsValidate(required=True, os_name="debian+woody", checks=[], osparams={})
        self.assertIn("allowed: lenny, squeeze", self.failed(self.dispatch.perform(wrong), GanetiError))
