"""What is read from Ceph's programs."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.interfaces import PoolSpace
from ganeti_tx.node.storage.rbd.image import Image
from ganeti_tx.node.storage.rbd.report import parse_info, parse_mapped, parse_space, reason
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.node.storage.rbd.captured import captured, failure

ONE = Image("rbd", "one")
LISTED = b"""[{"id":"0","pool":"rbd","namespace":"","name":"one","snap":"-","device":"/dev/rbd0"},
{"id":"1","pool":"rbd","namespace":"","name":"one","snap":"s","device":"/dev/rbd1"}]"""
BY_NUMBER = b'{"0":{"pool":"rbd","name":"one","snap":"-","device":"/dev/rbd0"}}'


class ReportTests(SynchronousTestCase):
    """What goes well."""

    def test_size(self) -> None:
        """Of an image."""
        self.assertEqual(parse_info(captured("info.json")).mib, 12)
        with self.assertRaises(BlockDeviceError):
            parse_info(b"image 'one'")

    def test_mapped(self) -> None:
        """Devices, as older and newer versions list them; that of a snapshot is not the image's."""
        for text, count in ((LISTED, 2), (BY_NUMBER, 1), (b"[]", 0), (b"", 0)):
            found = parse_mapped(text)
            self.assertEqual(len(found), count)
            self.assertEqual([each.device for each in found if each.is_of(ONE)], ["/dev/rbd0"][:count])
            self.assertFalse(any(each.is_of(Image("other", "one")) for each in found))
        with self.assertRaises(BlockDeviceError):
            parse_mapped(b"id pool image snap device")

    def test_space(self) -> None:
        """Of a pool: what is in it, and what it can take."""
        self.assertEqual(parse_space(captured("df.json"), "rbd"), PoolSpace(size=972, free=948))
        with self.assertRaisesRegex(BlockDeviceError, "no pool 'x'; it tells of: device_health_metrics, rbd"):
            parse_space(captured("df.json"), "x")


class ReasonTests(SynchronousTestCase):
    """Why something failed is one line, without the library's log and without advice."""

    def test_reasons(self) -> None:
        """Of all that was captured."""
        for name, status, wanted in (
            ("info_no_pool", 2, "rbd: error opening pool 'nopool': (2) No such file or directory"),
            ("create_exists", 17, "rbd: create error: (17) File exists"),
            ("rename_exists", 17, "rbd: rename error: (17) File exists"),
            ("rm_watched", 16, "rbd: error: image still has watchers"),
            ("not_connected", 1, "rbd: couldn't connect to the cluster!"),
            (
                "map_no_module", 2,
                "modprobe: FATAL: Module rbd not found in directory /lib/modules/6.1.0; "
                "rbd: failed to load rbd kernel module (1); rbd: failed to get mon address (possible ms_mode mismatch); "
                "rbd: map failed: (2) No such file or directory",
            ),
        ):  # fmt: skip
            self.assertEqual(reason(failure(name, status)), wanted)

    def test_without_words(self) -> None:
        """What says nothing is told by how it ended."""
        self.assertEqual(reason(ProcessResult(status=3)), "exited with status 3")
        self.assertIn("timed out", reason(ProcessResult(status=None, timed_out=True, stderr=b"rbd: x")))
