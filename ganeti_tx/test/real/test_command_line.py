"""Tests of looking at processes that others end."""

import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.command_line import command_line


class CommandLineTests(SynchronousTestCase):
    """A process of ours."""

    def test_ended(self) -> None:
        """Its words are there while it is; one that has ended between being listed and being looked at has none."""
        words = [sys.executable, "-c", "print('up', flush=True); input()"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.assertIn(words[-1].encode(), command_line(process.pid))
        process.communicate(b"\n")
        self.assertEqual(command_line(process.pid), [])
