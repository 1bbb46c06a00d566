"""The README's commands on a bare Debian: they install all that they need."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.bare_root import BareRoot

#: Tests that need what bin/test installs: QEMU, a guest's kernel, a compiler, OS definitions, slapd, curl.
QUICK = (
    "ganeti_tx.test.real.test_kvm",
    "ganeti_tx.test.real.test_kvm_guest",
    "ganeti_tx.test.real.test_os_scripts",
    "ganeti_tx.test.real.test_rapi_ldap",
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
