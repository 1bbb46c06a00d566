"""Files that are opened, or made."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.opened_or_made import open_or_make


class OpenOrMakeTests(SynchronousTestCase):
    """Below a directory."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())

    def open(self, flags: int = os.O_RDWR) -> None:
        """Open and close it."""
        os.close(open_or_make(self.path, flags, 0o640))

    def test_made(self) -> None:
        """It is made with its mode, once; what it holds stays."""
        self.open()
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)
        self.path.write_text("what is there")
        self.open()
        self.assertEqual(self.path.read_text(), "what is there")

    def test_link(self) -> None:
        """A link is not followed, whether it leads anywhere or not, and nothing is made behind it."""
        target = Path(f"{self.path}-target")
        self.path.symlink_to(target.absolute())
        for _ in range(2):
            self.assertRaises(OSError, self.open, os.O_RDWR | os.O_NOFOLLOW)
            self.assertEqual(target.exists(), target.is_file() and target.read_text() == "")
            target.touch()

    def test_not_possible(self) -> None:
        """What can be neither opened nor made is told, and not tried for ever."""
        self.path = Path(f"{self.path}/below/file")
        self.assertRaises(FileNotFoundError, self.open)
