"""What of LXC's log is told."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.lxc.first_error import first_error

NO_PROFILE = """\
lxc-start web1 20261127111957.794 ERROR apparmor - ../src/lxc/lsm/apparmor.c:apparmor_process_label_set_at:1184 - \
No such file or directory - Failed to write AppArmor profile "lxc-container-default-cgns" to 13
lxc-start web1 20261127111957.795 ERROR start - ../src/lxc/start.c:do_start:1275 - Failed to setup container
"""


class FirstErrorTests(SynchronousTestCase):
    """As LXC 5.0 writes it."""

    def test_profile(self) -> None:
        """The first line is told, and of a profile that is not there what to do about it."""
        said = first_error(NO_PROFILE)
        self.assertIn('"lxc-container-default-cgns" to 13; install apparmor', said)
        self.assertNotIn("\n", said)
        self.assertNotIn("apparmor", first_error("lxc-start web1 1 ERROR start - no such init\n"))

    def test_nothing(self) -> None:
        """An empty log says nothing."""
        self.assertEqual(first_error("\n"), "")
