"""The exports that lie on a node."""

from collections.abc import Coroutine
from typing import Any

from msgspec import ValidationError, msgpack
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError, OpExecError
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.exports import CONFIG, Exports
from ganeti_tx.rpc.calls.backup import (
    ExportBegin,
    ExportDescription,
    ExportDiscard,
    ExportInfo,
    ExportList,
    ExportRemove,
    FinalizeExport,
)
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles

WEB1 = "web1.example.com"
TEXT = f"[export]\nversion = 0\nos = noop\n\n[instance]\nname = {WEB1}\n"


class ExportCase(SynchronousTestCase):
    """Directories below the directory of exports."""

    def setUp(self) -> None:
        self.files, self.paths = MemoryFiles(), Paths()
        self.top = self.paths.export_dir
        self.dispatch = NodeDispatch(Exports(self.files, self.paths, InlineThreads()))

    def asked(self, call: NodeCall[Any]) -> Any:
        """What the node answers."""
        return self.successResultOf(Deferred.fromCoroutine(self.dispatch.perform(call)))

    def refused(self, call: NodeCall[Any]) -> str:
        """Why it does not."""
        return str(self.failureResultOf(Deferred.fromCoroutine(self.dispatch.perform(call)), GanetiError).value)

    def done(self, work: Coroutine[Any, Any, Any]) -> None:
        """It is done at once."""
        self.successResultOf(Deferred.fromCoroutine(work))

    def put(self, name: str, text: str = TEXT) -> None:
        """There is an export, or a part of one."""
        self.files.mkdir(self.top / name)
        self.done(self.files.write_atomic(self.top / name / CONFIG, text.encode()))


class ListTests(ExportCase):
    """What is there."""

    def test_none(self) -> None:
        """A node to which nothing was exported has not even the directory."""
        self.assertEqual(self.asked(ExportList()), [])

    def test_names(self) -> None:
        """In order; what is on its way out is hidden."""
        for name in ("web2", "web1", ".web3.old"):
            self.files.mkdir(self.top / name)
        self.assertEqual(self.asked(ExportList()), ["web1", "web2"])

    def test_info(self) -> None:
        """The description, if it is one."""
        self.put(WEB1)
        self.put("old/web2")
        self.put("torn", "garbage\n")
        self.put("other", TEXT.replace("version = 0", "version = 1"))
        self.put("half", "[export]\nversion = 0\n")
        for path in (WEB1, "old/web2", f"{self.top}/{WEB1}"):
            self.assertEqual(self.asked(ExportInfo(path=path)), ExportDescription(str(self.top / path), TEXT))
        self.assertIn("/etc is not below", self.refused(ExportInfo(path="/etc")))
        for path, reason in (
            ("nosuch", "No export or invalid export found in dir .*/export/nosuch: Export info file doesn't have"),
            ("torn", "no section headers"),
            ("other", "Wrong export version 1"),
            ("half", "doesn't have the required fields"),
        ):
            self.assertRegex(self.refused(ExportInfo(path=path)), reason)

    def test_links(self) -> None:
        """What came with an export that others made leads to no file of the node."""
        self.put(WEB1)
        exports, disk = Exports(self.files, self.paths, InlineThreads()), self.top / WEB1 / "disk0.dump"
        with self.assertRaisesRegex(OpExecError, f"export {WEB1} has no file disk0.dump"):
            exports.dump(WEB1, "disk0.dump")
        self.files.symlink(disk, "/etc/shadow")
        with self.assertRaisesRegex(
            OpExecError, f"disk0.dump of export {WEB1} is not imported: .* link to /etc/shadow"
        ):
            exports.dump(WEB1, "disk0.dump")
        self.done(self.files.write_atomic(disk, b"data"))
        self.assertEqual(exports.dump(WEB1, "disk0.dump"), disk)
        self.files.symlink(self.top / WEB1 / CONFIG, "/etc/shadow")
        self.assertIn("config.ini cannot be read: it is a link", self.refused(ExportInfo(path=WEB1)))


class BuildingTests(ExportCase):
    """How an export comes to be there."""

    def test_in_place_of_another(self) -> None:
        """The former one is there until the new one is whole, and then it is not."""
        self.put(WEB1, "old")
        self.put(f"{WEB1}.new", "left by an earlier one")
        self.asked(ExportBegin(export=WEB1))
        self.assertEqual(self.files.listdir(self.top / f"{WEB1}.new"), [])
        self.assertEqual(self.files.read(self.top / WEB1 / CONFIG, 9), b"old")
        self.asked(FinalizeExport(export=WEB1, config=TEXT))
        self.assertEqual(self.files.listdir(self.top), [WEB1])
        self.assertEqual((self.files.stat(self.top / WEB1).mode), 0o700)
        self.assertEqual(self.files.stat(self.top / WEB1 / CONFIG).mode, 0o600)
        self.assertEqual(self.asked(ExportInfo(path=WEB1)).config, TEXT)

    def test_discarded(self) -> None:
        """The former one is as it was, also after a death in the midst of the exchange; a second time does no harm."""
        self.put(WEB1, "old")
        self.asked(ExportBegin(export=WEB1))
        self.files.rename(self.top / WEB1, self.top / f".{WEB1}.old")
        for _ in range(2):
            self.asked(ExportDiscard(export=WEB1))
        self.assertEqual(self.files.listdir(self.top), [WEB1])
        self.assertEqual(self.files.read(self.top / WEB1 / CONFIG, 9), b"old")

    def test_death_that_nobody_undid(self) -> None:
        """In the midst of the exchange: the former one is there again as long as the next one is put together."""
        self.put(WEB1, "old")
        self.asked(ExportBegin(export=WEB1))
        self.files.rename(self.top / WEB1, self.top / f".{WEB1}.old")
        self.asked(ExportBegin(export=WEB1))
        self.assertEqual(self.files.listdir(self.top), [WEB1, f"{WEB1}.new"])
        self.assertEqual(self.files.read(self.top / WEB1 / CONFIG, 9), b"old")

    def test_another_instance(self) -> None:
        """An export of an instance whose name ends so is not taken for what is left; what is left of a death is."""
        other = f"{WEB1}.new"
        whole = TEXT.replace(WEB1, other)
        self.put(WEB1, "old")
        self.put(other, whole)
        for call in (ExportBegin(export=WEB1), FinalizeExport(export=WEB1, config=TEXT)):
            self.assertRegex(self.refused(call), f"{other}, where .* is an export of instance {other}; move it")
        self.asked(ExportDiscard(export=WEB1))
        self.assertEqual(self.asked(ExportInfo(path=other)).config, whole)
        self.assertEqual(self.files.read(self.top / WEB1 / CONFIG, 9), b"old")
        self.put(other, TEXT)
        self.asked(ExportBegin(export=WEB1))
        self.assertEqual(self.files.listdir(self.top / other), [])

    def test_half_removed(self) -> None:
        """What is left of a removal is not put back, and goes with the next one."""
        self.put(WEB1)
        self.files.fault = lambda operation, path: (
            OSError(5, "EIO") if operation == "remove_tree" and self.files.exists(path) else None
        )
        failed = Deferred.fromCoroutine(self.dispatch.perform(ExportRemove(export=WEB1)))
        self.failureResultOf(failed)
        self.files.fault = None
        self.assertEqual(self.asked(ExportList()), [])
        self.asked(ExportBegin(export=WEB1))
        self.asked(ExportDiscard(export=WEB1))
        self.assertEqual(self.asked(ExportList()), [])
        self.asked(ExportRemove(export=WEB1))
        self.assertEqual(self.files.listdir(self.top), [])

    def test_not_begun(self) -> None:
        """What nobody has begun cannot be finalized, and takes nothing away."""
        self.put(WEB1, "old")
        self.refused(FinalizeExport(export=WEB1, config=TEXT))
        self.assertEqual(self.files.read(self.top / WEB1 / CONFIG, 9), b"old")

    def test_removed(self) -> None:
        """With all that is in it; a second time is no error."""
        self.put(f"{WEB1}/sub")
        self.put("web2")
        for _ in range(2):
            self.asked(ExportRemove(export=WEB1))
        self.assertEqual(self.files.listdir(self.top), ["web2"])


class WireTests(SynchronousTestCase):
    """What a caller may ask for."""

    def test_names(self) -> None:
        """Nothing outside of the directory of exports."""
        for path in ("../x", "a/../b", "/etc/../x", ".hidden", "", "a//b", "a/.b", "a\n"):
            self.assertRaises(ValidationError, msgpack.decode, msgpack.encode({"path": path}), type=ExportInfo)
        for name in ("a/b", "..", "web1\n", ""):
            self.assertRaises(ValidationError, msgpack.decode, msgpack.encode({"export": name}), type=ExportRemove)
