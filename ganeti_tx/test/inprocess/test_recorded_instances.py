"""All that was recorded of gnt-instance and gnt-storage of Ganeti 3.0.2; doc/recorded-instances.rst says what differs, and why."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.recorded_instances.allocator import RecordedAllocator
from ganeti_tx.test.inprocess.recorded_instances.differences import DIFFERENCES, left, reasons
from ganeti_tx.test.inprocess.recorded_instances.meanwhile import ASIDE, MEANWHILE, Step
from ganeti_tx.test.inprocess.recorded_instances.page import PAGE, WRITTEN, page
from ganeti_tx.test.inprocess.recorded_instances.playing import Player
from ganeti_tx.test.inprocess.recorded_instances.printed import apart, as_recorded, meaningful
from ganeti_tx.test.inprocess.state import state
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase

PROGRAMS = ("instance", "storage")
#: What is wrong is seen before anything is done.
REFUSED = "prerequisites not met"
#: Seconds in which whatever was submitted has ended.
ENDED = 60


class RecordedInstancesTests(RecordedOsCase):
    """The whole record, one command after the other."""

    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        directory = Path(self.mktemp())
        directory.mkdir(parents=True)
        self.player = Player(self.cluster, directory)
        self.allocator = RecordedAllocator(self.cluster, {})
        self.allocator.install()

    def test_instances(self) -> None:
        """There is no difference that the page does not declare, and it counts them; what `add` refuses changes nothing."""
        lines = [line for program in PROGRAMS for line in recorded.lines(f"whole/gnt-{program}.jsonl")]
        found = [self.compare(number, line) for number, line in enumerate(lines)]
        self.assertEqual("\n".join(each for each in found if isinstance(each, str)), "")
        self.assertEqual({each.key for each in DIFFERENCES} - {key for keys in found for key in keys}, set())
        said = page(lines, [each for each in found if not isinstance(each, str)])
        if not PAGE.exists() or PAGE.read_text() != said:
            WRITTEN.write_text(said)
            self.fail(f"{PAGE} does not say what was found; that is in {WRITTEN.resolve()}")

    def compare(self, number: int, line: Mapping[str, Any]) -> list[str] | str:
        """The keys of the differences; what differs without being declared."""
        for step in (*MEANWHILE.get(number, ()), *ASIDE.get(number, ())):
            self.bring_about(step)
        self.allocator.line = line
        before = state(self.cluster)
        wanted, found = as_recorded(line), meaningful(self.player.play(line), line)
        if "--submit" in line["argv"]:
            self.cluster.pass_time(ENDED)
        if line["argv"][1:2] == ["add"] and REFUSED in found.err and state(self.cluster) != before:
            return f"{number} {shlex.join(line['argv'])}: something was changed"
        keys = reasons(number, wanted, found)
        if keys is not None:
            return keys
        return f"{number} {shlex.join(line['argv'])}\n{apart(*left(number, (wanted, found)))}"

    def bring_about(self, step: Step) -> None:
        """What happened besides."""
        if not isinstance(step, str):
            step(self.player)
            return
        self.allocator.line = {}
        status, out, err = self.scene().run(shlex.split(step))
        if status and "disconnect" not in step:
            raise AssertionError(f"{step!r} ended with {status}: {out}{err}")
