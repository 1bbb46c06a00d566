"""WConfD never writes over a configuration that is newer than its own."""

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.changes_tags import change_tags
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import decode, encode
from ganeti_tx.model.enums import TagKind
from ganeti_tx.test.config.stores import CONFIG, PATHS, loaded
from ganeti_tx.test.fakes.files import MemoryFiles


class OtherWriterTests(SynchronousTestCase):
    """A store whose file somebody else writes."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.store = loaded(self.files)

    def other_writes(self, data: bytes) -> None:
        """Somebody else's doing."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(PATHS.config_file, data, 0o640)))

    def change(self) -> "Deferred[object]":
        """A change of ours."""
        change = change_tags(TagKind.CLUSTER, CONFIG.cluster.uuid, ["mine"], [])
        return Deferred.fromCoroutine(self.store.change(change))

    def on_disk(self) -> int:
        """The serial number in the file."""
        return decode(self.files.read(PATHS.config_file, 1 << 20)).serial_no

    def test_newer(self) -> None:
        """One with a higher or the same serial number stays, and the change fails; memory is as it was."""
        serial = self.store.snapshot.serial_no
        for there in (serial + 1, serial + 50):
            self.other_writes(encode(replace(CONFIG, serial_no=there)))
            error = self.failureResultOf(self.change(), ConfigurationError)
            self.assertIn(f"somebody else wrote serial number {there}", str(error.value))
            self.assertEqual((self.on_disk(), self.store.snapshot.serial_no), (there, serial))

    def test_older(self) -> None:
        """One that is older, damaged or gone is replaced."""
        for write in (
            lambda: self.other_writes(encode(replace(CONFIG, serial_no=0))),
            lambda: self.other_writes(b"junk"),
            lambda: self.files.remove(PATHS.config_file),
        ):
            write()
            self.successResultOf(self.change_tag())
            self.assertEqual(self.on_disk(), self.store.snapshot.serial_no)

    def test_another_master(self) -> None:
        """The configuration of a new master stays, whatever its serial number."""
        cluster = replace(CONFIG.cluster, master_node="node2-uuid")
        self.other_writes(encode(replace(CONFIG, serial_no=0, cluster=cluster)))
        error = self.failureResultOf(self.change(), ConfigurationError)
        self.assertIn("another master, node2.example.com", str(error.value))
        self.assertEqual(self.on_disk(), 0)

    def change_tag(self) -> "Deferred[object]":
        """One change after the other."""
        tag = f"tag{self.store.snapshot.serial_no}"
        return Deferred.fromCoroutine(self.store.change(change_tags(TagKind.CLUSTER, CONFIG.cluster.uuid, [tag], [])))

    def test_own_writes(self) -> None:
        """What it wrote itself is no one else's."""
        for _ in range(3):
            self.successResultOf(self.change_tag())
