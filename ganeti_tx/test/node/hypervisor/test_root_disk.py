"""Disks that are mounted as roots: what is read of their partitions, and what a node needs for that."""

from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.root_disk import RootDisks, first_partition
from ganeti_tx.runtime.process import NOT_FOUND, ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put


class NodeTests(SynchronousTestCase):
    """A node that may lack a program."""

    def test_missing(self) -> None:
        """The program and its package are named."""
        runner = FakeProcessRunner()
        for status, said in ((NOT_FOUND, ["the program sfdisk is not on this node; install fdisk"]), (0, [])):
            runner.script(["sfdisk", "--version"], ProcessResult(status=status))
            self.assertEqual(self.successResultOf(Deferred.fromCoroutine(RootDisks(runner).missing())), said)


class LeftTests(SynchronousTestCase):
    """A root that is not cleared away."""

    def setUp(self) -> None:
        self.runner, self.files = FakeProcessRunner(), MemoryFiles()
        self.directory = Path("/run/web1")
        self.root = self.directory / "root"
        for each in (Path("/run"), self.directory, self.root):
            self.files.mkdir(each)

    def said(self) -> str:
        """Why not."""
        clearing = RootDisks(self.runner).clear(self.files, self.root, self.directory)
        return self.failureResultOf(Deferred.fromCoroutine(clearing), HypervisorError).getErrorMessage()

    def test_in_use(self) -> None:
        """What shows who uses it is named, and what unmounts it then."""
        self.runner.script(["mountpoint"], ProcessResult())
        self.runner.script(["umount"], ProcessResult(status=32, stderr=b"target is busy"))
        said = self.said()
        self.assertIn(f"cannot unmount {self.root}: ", said)
        self.assertIn(f"'fuser --verbose --mount {self.root}' shows, then 'umount --recursive {self.root}'", said)

    def test_not_empty(self) -> None:
        """Files that lie where it was mounted are nobody's to delete: who moves them is told so."""
        self.runner.script(["mountpoint"], ProcessResult(status=1))
        put(self.files, self.root / "kept", b"text")
        self.assertRegex(self.said(), f"cannot remove {self.root}: .*; move away what is in it")
        self.assertEqual(self.files.listdir(self.root), ["kept"])


class PartitionTests(SynchronousTestCase):
    """Of what sfdisk prints."""

    def test_first(self) -> None:
        """The first on the disk counts, wherever it stands in the table; sizes are in sectors."""
        table = {"sectorsize": 4096, "partitions": [{"start": 900, "size": 5}, {"start": 256, "size": 10}]}
        printed = msgspec.json.encode({"partitiontable": table})
        self.assertEqual(first_partition(printed, "/d"), ["offset=1048576", "sizelimit=40960"])

    def test_none(self) -> None:
        """A table without partitions, and what is no table, are told with the disk's path."""
        for printed, said in ((b'{"partitiontable": {}}', "no partition"), (b"{", "nobody"), (b'{"x": 1}', "nobody")):
            error = self.assertRaises(HypervisorError, first_partition, printed, "/d")
            self.assertIn("/d", str(error))
            self.assertIn(said, str(error))
