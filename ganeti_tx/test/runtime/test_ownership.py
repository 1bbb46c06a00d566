"""To whom files are given, by their names."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.ownership import have_accounts, no_owners, owners_at
from ganeti_tx.runtime.path_modes import (
    DIRECTORY_MODES,
    FILE_MODES,
    GROUPS,
    JOB_DIRECTORY_MODE,
    JOB_FILE_MODE,
    SSCONF_MODE,
    USERS,
    mode_of,
)
from ganeti_tx.runtime.paths import Paths


class ModeOfTests(SynchronousTestCase):
    """One look-up for what is listed and for what is made as the cluster goes on."""

    def test_listed(self) -> None:
        """Every row is found, and names parts that have a user and a group."""
        for path, mode in (FILE_MODES | DIRECTORY_MODES).items():
            self.assertEqual(mode_of(path), mode)
            self.assertIn(mode.owner, USERS)
            self.assertIn(mode.group, GROUPS)

    def test_made(self) -> None:
        """Jobs, archived or damaged ones too, and simple configuration."""
        self.assertEqual(mode_of("/var/lib/ganeti/ssconf_node_list"), SSCONF_MODE)
        for job in ("job-17", "archive/0/job-17", "lost+found/job-17.1"):
            self.assertEqual(mode_of(f"/var/lib/ganeti/queue/{job}"), JOB_FILE_MODE)
        for directory in ("archive/12", "lost+found"):
            self.assertEqual(mode_of(f"/var/lib/ganeti/queue/{directory}"), JOB_DIRECTORY_MODE)

    def test_others(self) -> None:
        """What is in no table is given to nobody, such as a cluster's files below a directory of its own."""
        for path in ("/srv/node1/var/lib/ganeti/config.data", "/var/lib/ganeti/notes", "/etc/passwd"):
            self.assertIsNone(mode_of(path))


class OwnersAtTests(SynchronousTestCase):
    """Who gives files away."""

    def test_own_root(self) -> None:
        """A cluster below a directory of its own belongs to whoever runs it, be it root."""
        self.assertIs(owners_at(Paths(Path("/node"))), no_owners)

    def test_all_or_none(self) -> None:
        """A machine without the users gives nothing away, and root gives where they are."""
        owners = owners_at(Paths())
        self.assertEqual(owners("gnt-masterd", "gnt-daemons") is not None, have_accounts() and os.geteuid() == 0)
