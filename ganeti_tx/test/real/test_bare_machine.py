"""The README's commands on a bare Debian: they install all that they need."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.bare_root import BareRoot

#: Tests that need what bin/test installs: QEMU, a guest's kernel, a compiler, OS definitions, slapd, curl; one for each need, as
#: the run that this one belongs to has them all.
QUICK = (
    "ganeti_tx.test.real.test_kvm.KvmTests.test_cdrom_from_the_web",
    "ganeti_tx.test.real.test_kvm_firmware.KvmFirmwareTests.test_firmware",
    "ganeti_tx.test.real.test_kvm_firmware.KvmFirmwareTests.test_tpm_user",
    "ganeti_tx.test.real.test_kvm_guest.GuestTests.test_power_button",
    "ganeti_tx.test.real.test_os_scripts.NoopTests.test_noop",
    "ganeti_tx.test.real.test_os_scripts.BusyboxTests",
    "ganeti_tx.test.real.test_rapi_ldap.LoginTests",
)


class BareMachineTests(SynchronousTestCase):
    """A new user's first commands."""

    def setUp(self) -> None:
        """A Debian with python3, git and apt, and a clone."""
        self.machine = BareRoot()
        self.addCleanup(self.machine.close)

    def run_there(self, *words: str) -> str:
        """What a command that must succeed said."""
        status, said = self.machine.run(*words)
        self.assertEqual(status, 0, said)
        return said

    def test_quickstart(self) -> None:
        """bin/quickstart boots a real instance, and all of it can be taken down."""
        said = self.run_there("sh", "-c", "./bin/quickstart && ./bin/quickstart --stop")
        self.assertRegex(said, r"On its serial console:\n.*ganeti_tx guest web1\.dev\.example is up\n")
        self.assertNotIn("fake", said)

    def test_test(self) -> None:
        """bin/test has all that its tests need: of those that need most none is skipped."""
        last = self.run_there("./bin/test", *QUICK).splitlines()[-1]
        self.assertRegex(last, r"^[1-9][0-9]* passed, 0 failed, 0 skipped$")
