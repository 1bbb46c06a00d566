"""Logs that programs write without end."""

import os
from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime import log_limit
from ganeti_tx.runtime.log_limit import LOOK, LogLimit, cut, is_log
from ganeti_tx.runtime.script_log import ScriptLog, open_log

CUT = b"(cut here, as this log had more than 0 MiB; its end follows)\n"


class LogLimitTests(SynchronousTestCase):
    """A log of 400 bytes at most, of which 200 at the beginning and 50 at the end are left."""

    def setUp(self) -> None:
        for name, value in (("MOST", 400), ("BEGINNING", 200), ("END", 50)):
            self.patch(log_limit, name, value)
        self.log: ScriptLog = open_log(Path(self.mktemp()), "add-noop-web1")
        self.addCleanup(self.log.close)

    def say(self, *numbers: int) -> None:
        """Lines of ten bytes each."""
        os.write(self.log.descriptor, b"".join(b"%09d\n" % number for number in numbers))

    def test_cut(self) -> None:
        """What is too much goes from the middle, in whole lines, whenever it is too much again."""
        self.say(*range(40))
        self.assertFalse(cut(self.log.descriptor))
        os.write(self.log.descriptor, b"the last one\n")
        beginning = b"".join(b"%09d\n" % number for number in range(20))
        self.assertTrue(cut(self.log.descriptor))
        end = b"000000037\n000000038\n000000039\nthe last one\n"
        self.assertEqual(self.log.path.read_bytes(), beginning + CUT + end)
        self.say(*range(100, 130))
        self.assertTrue(cut(self.log.descriptor))
        end = b"".join(b"%09d\n" % number for number in range(126, 130))
        self.assertEqual(self.log.path.read_bytes(), beginning + CUT + end)

    def test_one_line(self) -> None:
        """Of a line that does not end only the beginning is left."""
        os.write(self.log.descriptor, b"x" * 5000)
        cut(self.log.descriptor)
        self.assertEqual(self.log.path.read_bytes(), b"x" * 150 + CUT)

    def test_while_it_runs(self) -> None:
        """It is looked at every second, and once more at the end, also when it is closed by then."""
        clock, before = Clock(), len(os.listdir("/proc/self/fd"))
        limit = LogLimit(clock, (self.log.descriptor, self.log.descriptor))
        for _ in range(3):
            self.say(*range(100))
            clock.advance(LOOK)
            self.assertLess(self.log.path.stat().st_size, 400)
        self.say(*range(100))
        limit.end()
        self.assertLess(self.log.path.stat().st_size, 400)
        self.assertEqual((clock.getDelayedCalls(), len(os.listdir("/proc/self/fd"))), ([], before))

    def test_other_files(self) -> None:
        """What a program fills from its beginning, and pipes, are no logs."""
        reading, writing = os.pipe()
        image = os.open(self.mktemp(), os.O_RDWR | os.O_CREAT)
        for descriptor in (reading, writing, image):
            self.addCleanup(os.close, descriptor)
            self.assertFalse(is_log(descriptor))
        os.ftruncate(image, 5000)
        clock = Clock()
        LogLimit(clock, (image, writing)).end()
        self.assertEqual((os.fstat(image).st_size, clock.getDelayedCalls()), (5000, []))
