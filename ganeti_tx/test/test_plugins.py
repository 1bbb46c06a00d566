"""The twistd plugins: each daemon is found once, takes its options, makes its service, and needs no reactor to be listed."""

import os
import subprocess
import sys
from pathlib import Path

from twisted.application.service import IService, IServiceMaker
from twisted.plugin import getPlugins
from twisted.python.reflect import namedAny
from twisted.python.usage import UsageError
from twisted.trial.unittest import SynchronousTestCase

import ganeti_tx
from ganeti_tx.test.fakes.reactor import PooledReactor

ROOT = Path(ganeti_tx.__file__).parents[1]
MODULES = {
    "ganeti-confd": "ganeti_tx.confd.tap",
    "ganeti-luxid": "ganeti_tx.luxid.tap",
    "ganeti-master": "ganeti_tx.master.tap",
    "ganeti-metad": "ganeti_tx.metad.tap",
    "ganeti-mond": "ganeti_tx.mond.tap",
    "ganeti-noded": "ganeti_tx.node.tap",
    "ganeti-rapi": "ganeti_tx.rapi.tap",
    "ganeti-wconfd": "ganeti_tx.wconfd.tap",
}
NAMES = sorted(MODULES)
LISTING = """
import sys
from twisted.application.service import IServiceMaker
from twisted.plugin import getPlugins
names = sorted(maker.tapname for maker in getPlugins(IServiceMaker) if maker.tapname.startswith("ganeti-"))
print(" ".join(names), "twisted.internet.reactor" in sys.modules)
"""


class PluginTests(SynchronousTestCase):
    """What twistd finds."""

    def setUp(self) -> None:
        found = [maker for maker in getPlugins(IServiceMaker) if maker.tapname.startswith("ganeti-")]
        self.names = sorted(maker.tapname for maker in found)
        self.makers = {maker.tapname: maker for maker in found}

    def test_names(self) -> None:
        """Each daemon is found once."""
        self.assertEqual(self.names, NAMES)

    def test_options(self) -> None:
        """A daemon's options are read; a wrong one is refused."""
        for maker in self.makers.values():
            options = maker.options()
            options.parseOptions(["--debug"])
            self.assertTrue(options["debug"])
            self.assertRaises(UsageError, maker.options().parseOptions, ["--no-such-option"])

    def test_port(self) -> None:
        """The node daemon's port is a number."""
        options = self.makers["ganeti-noded"].options()
        options.parseOptions(["--port", "1812", "--bind", "127.0.0.2"])
        self.assertEqual((options["port"], options["bind"]), (1812, "127.0.0.2"))
        self.assertRaises(UsageError, self.makers["ganeti-noded"].options().parseOptions, ["--port", "many"])

    def test_node_daemon(self) -> None:
        """What Ganeti's node daemon takes is taken, such as stands in /etc/default/ganeti."""
        options = self.makers["ganeti-noded"].options()
        options.parseOptions(["--interface", "lo", "--max-clients", "20", "--no-mlock", "-d", "--syslog=no"])
        self.assertEqual((options["bind"], options["max-clients"], options["no-mlock"]), ("127.0.0.1", 20, 1))
        for words in (["--max-clients", "0"], ["-i", "nosuch0"], ["-i", "lo", "-b", "127.0.0.1"]):
            self.assertRaises(UsageError, self.makers["ganeti-noded"].options().parseOptions, words)

    def test_services(self) -> None:
        """Making the service listens nowhere and starts nothing: that comes when twistd starts it."""
        for name, maker in self.makers.items():
            options = maker.options()
            options.parseOptions([])
            reactor = PooledReactor()
            service = namedAny(f"{MODULES[name]}.make_service")(options, reactor)
            self.assertTrue(IService.providedBy(service), name)
            self.assertEqual([reactor.sslServers, reactor.unixServers, reactor.getDelayedCalls()], [[], [], []])

    def test_listing_needs_no_reactor(self) -> None:
        """Listing the plugins installs no reactor, so that twistd may still choose one."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", LISTING], env=environment, capture_output=True, text=True, timeout=60, check=True
        )
        self.assertEqual(done.stdout.split(), [*NAMES, "False"])

    def test_no_packages(self) -> None:
        """twisted/ and twisted/plugins/ beside the package are no packages: Twisted's own would be hidden."""
        self.assertEqual(list((ROOT / "twisted").glob("__init__.py")), [])
        if (ROOT / "setup.py").exists():
            self.assertEqual(list((ROOT / "twisted/plugins").glob("__init__.py")), [])
