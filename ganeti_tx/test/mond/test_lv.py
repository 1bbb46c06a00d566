"""The collector "lv"."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.mond.interfaces import NodeFacts
from ganeti_tx.mond.lv import ARGV, LogicalVolumes
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.mond.parts import CONTRACT, FixedFacts

#: What LVM 2.03.16 says of volumes with these properties.
VOLUMES = (
    "Hh82rv-ug4e-wjL3|5f0b6c4e.disk0_data|-wi-a-----|-1|-1|253|0|134217728|1|ganeti+inst1|"
    "||xenvg|linear|0|0|134217728||/dev/vdb:0-31|/dev/vdb(0)",
    "zVw9hO-Pgzn-Rxe0|striped|-wi-------|-1|-1|-1|-1|8388608|1||"
    "||xenvg|striped|0|0|8388608||/dev/vdb:132-133|/dev/vdb(132)",
    "7tXCe5-5Ydm-eFeH|thin1|Vwi-a-tz--|-1|-1|253|11|33554432|1||thin||xenvg|thin|0|0|33554432|||",
)
LINES = "".join(f"  {volume}\n" for volume in VOLUMES).encode()


class LvTests(SynchronousTestCase):
    """A node whose lvs says what the test says."""

    def setUp(self) -> None:
        self.runner = FakeProcessRunner()
        facts = NodeFacts(volumes={("xenvg", "5f0b6c4e.disk0_data"): "inst1"}, heard=True)
        self.collector = LogicalVolumes(self.runner, FixedFacts(facts))

    def report(self) -> list[dict[str, Any]]:
        """The volumes."""
        found: list[dict[str, Any]] = self.successResultOf(self.collector.collect())["lvs"]
        return found

    def test_names(self) -> None:
        """A volume has the keys of the reference, in its order."""
        self.runner.script(ARGV, ProcessResult(stdout=LINES))
        told = CONTRACT["collectors"]["lv"]["data"]["lvs"].removeprefix("list of {").removesuffix(" or null}")
        self.assertEqual(list(self.report()[0]), told.split(", "))

    def test_values(self) -> None:
        """Sizes are bytes; a volume that is none of the cluster's has no instance; the last column may be empty."""
        self.runner.script(ARGV, ProcessResult(stdout=LINES))
        disk, other, thin = self.report()
        self.assertEqual((disk["size"], disk["kernel_major"], disk["instance"]), (134217728, 253, "inst1"))
        self.assertEqual((disk["vg_name"], disk["devices"]), ("xenvg", "/dev/vdb(0)"))
        self.assertEqual((other["kernel_minor"], other["instance"]), (-1, None))
        self.assertEqual((thin["segtype"], thin["devices"]), ("thin", ""))

    def test_no_lvm(self) -> None:
        """Where LVM is not installed there are no volumes."""
        self.assertEqual(self.report(), [])

    def test_fails(self) -> None:
        """When lvs fails, takes too long, says too much or something else, there is no report."""
        for result in (
            ProcessResult(status=5, stderr=b"  Volume group lock failed\n"),
            ProcessResult(status=None, signal=15, timed_out=True),
            ProcessResult(stdout=LINES, truncated=True),
            ProcessResult(stdout=b"what|is|this\n"),
        ):
            self.runner.script(ARGV, result)
            self.failureResultOf(self.collector.collect(), BlockDeviceError)
