"""The console of a domain, with an xl that only notes what it is asked for."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.xen_console import main

NAME = "web1.example.com"
XL = """#!/bin/sh
echo "$*" >> {notes}
[ "$1" != list ] || echo "Name ID Mem VCPUs State Time(s)"
[ "$1 $2" != "list {name}" ] || echo "{name} 3 128 1 {state} 1.5"
[ "$1 $2" != "list nosuch" ] || exit 1
"""


class ConsoleTests(SynchronousTestCase):
    """What xl is asked for."""

    def asked(self, state: str, *words: str) -> tuple[int, list[str]]:
        """The exit status, and what xl was asked for by these words."""
        directory = Path(self.mktemp())
        directory.mkdir()
        notes = directory / "notes"
        notes.touch()
        (directory / "xl").write_text(XL.format(notes=notes.absolute(), name=NAME, state=state))
        (directory / "xl").chmod(0o755)
        self.patch(os, "environ", {**os.environ, "PATH": f"{directory.absolute()}:/usr/bin:/bin"})
        return main(words, connected=0.3), notes.read_text().splitlines()

    def test_running(self) -> None:
        """One that runs is shown, and left alone."""
        self.assertEqual(self.asked("-b----", NAME), (0, [f"list {NAME}", f"console {NAME}"]))

    def test_paused(self) -> None:
        """One that was started paused runs once it is watched."""
        self.assertEqual(self.asked("--p---", NAME), (0, [f"list {NAME}", f"console {NAME}", f"unpause {NAME}"]))

    def test_refused(self) -> None:
        """What is not there, and what is no name, has none."""
        self.assertEqual(self.asked("-b----", "nosuch"), (1, ["list nosuch"]))
        self.assertEqual(self.asked("-b----", "-a"), (2, []))
        self.assertEqual(self.asked("-b----"), (2, []))
