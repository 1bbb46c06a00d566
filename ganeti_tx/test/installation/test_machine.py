"""Changing a machine, here one that is only a directory, and only in words."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.installation.contents import MARK, Contents
from ganeti_tx.installation.machine import Machine

PROGRAM = Path("/opt/ganeti_tx/bin/gnt-node")
SYSUSERS = "etc/sysusers.d/ganeti.conf"
WANTED = Contents({"etc/x.conf": f"{MARK}\nx\n", SYSUSERS: f"{MARK}\n"}, {"sbin/gnt-node": PROGRAM})


class MachineTests(SynchronousTestCase):
    """Nothing is changed in a dry run, so that the words can be looked at."""

    def setUp(self) -> None:
        """An empty directory as root."""
        self.root = Path(self.mktemp()).absolute()
        self.said: list[str] = []
        self.machine = Machine(self.root, dry_run=True, say=self.said.append)
        for directory in ("etc", "sbin"):
            (self.root / directory).mkdir(parents=True)

    def test_dry_run(self) -> None:
        """All is said, nothing done."""
        self.machine.set_up(WANTED)
        self.assertIn(f"dry run: wrote {self.root}/etc/x.conf", self.said)
        self.assertIn(f"dry run: linked {self.root}/sbin/gnt-node to {PROGRAM}", self.said)
        self.assertEqual(list(self.root.rglob("*.conf")), [])

    def test_again(self) -> None:
        """What is there already is not spoken of; a link of an earlier installation is led to this one."""
        (self.root / "etc/x.conf").write_text(f"{MARK}\nx\n")
        (self.root / "sbin/gnt-node").symlink_to("/opt/old/bin/gnt-node")
        self.machine.set_up(WANTED)
        self.assertNotIn(f"dry run: wrote {self.root}/etc/x.conf", self.said)
        self.assertIn(f"dry run: linked {self.root}/sbin/gnt-node to {PROGRAM}", self.said)

    def test_not_ours(self) -> None:
        """What somebody else put there is named, all of it, and left."""
        (self.root / "etc/x.conf").write_text("mine\n")
        (self.root / "sbin/gnt-node").write_text("mine\n")
        with self.assertRaises(GanetiError) as caught:
            self.machine.set_up(WANTED)
        self.assertEqual([str(line).split(" is not ")[0] for line in caught.exception.args],
                         [f"{self.root}/etc/x.conf", f"{self.root}/sbin/gnt-node"])  # fmt: skip
        self.machine.take_away(WANTED)
        self.assertEqual(len([line for line in self.said if line.startswith("left ")]), 2)
