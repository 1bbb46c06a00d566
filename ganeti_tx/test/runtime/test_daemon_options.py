"""The command lines of the daemons."""

import io
from contextlib import redirect_stdout

from twisted.python.usage import UsageError
from twisted.scripts._twistd_unix import ServerOptions
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import __version__
from ganeti_tx.runtime.daemon_options import DaemonOptions, address, port_number

DAEMONS = [f"ganeti-{name}" for name in ("master", "luxid", "wconfd", "noded", "rapi", "confd", "mond", "metad")]


class TypeTests(SynchronousTestCase):
    """Values that are checked where they are given."""

    def test_ports(self) -> None:
        """A port is a number that a socket can have."""
        self.assertEqual(port_number("1811"), 1811)
        for text in ("0", "65536", "-1", "x", "", "1811.0"):
            self.assertIn("from 1 to 65535", str(self.assertRaises(ValueError, port_number, text)))

    def test_addresses(self) -> None:
        """An address is one of IP, no name."""
        self.assertEqual([address("192.0.2.1"), address("::1")], ["192.0.2.1", "::1"])
        self.assertEqual(str(self.assertRaises(ValueError, address, "node1")), "'node1' is not an IP address")


class OptionTests(SynchronousTestCase):
    """What each daemon understands."""

    def said(self, daemon: str, option: str) -> str:
        """What it prints before it ends with 0."""
        with redirect_stdout(io.StringIO()) as printed:
            ended = self.assertRaises(SystemExit, ServerOptions().parseOptions, [daemon, option])
        self.assertEqual(ended.code, 0)
        return printed.getvalue()

    def test_help(self) -> None:
        """Help names the daemon and how to stay in the foreground; it does not speak of twistd."""
        for daemon in DAEMONS:
            text = self.said(daemon, "--help")
            self.assertTrue(text.startswith(f"Usage: {daemon} [options]\n"), text)
            self.assertIn("--foreground", text)
            self.assertNotIn("wisted", text)
            self.assertNotIn("twistd", text)
            self.assertEqual(self.said(daemon, "-h"), text)

    def test_version(self) -> None:
        """The version is this program's."""
        for daemon in DAEMONS:
            for option in ("--version", "-V"):
                self.assertEqual(self.said(daemon, option), f"{daemon} (ganeti ganeti_tx) {__version__}\n")

    def test_as_given_to_ganeti(self) -> None:
        """What every daemon may find among the options that were written down for Ganeti's is taken."""
        for daemon in DAEMONS:
            options = ServerOptions()
            options.parseOptions([daemon, "-d", "--syslog=yes", "--no-user-checks"])
            self.assertEqual(options.subOptions["syslog"], "yes")
            error = self.assertRaises(UsageError, ServerOptions().parseOptions, [daemon, "--syslog=only"])
            self.assertIn("neither no nor yes", str(error))

    def test_words(self) -> None:
        """What is no option is named."""
        error = self.assertRaises(UsageError, DaemonOptions().parseOptions, ["-f", "start"])
        self.assertIn("'start' is no option", str(error))
