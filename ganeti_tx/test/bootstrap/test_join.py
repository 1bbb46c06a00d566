"""How the master sets a node up."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.join import send, take_back
from ganeti_tx.bootstrap.join_documents import JoinRequest
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.remote_call import REMOTE_SHELL_VARIABLE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import remember_joining


class SendTests(SynchronousTestCase):
    """On the master, in a directory of its own."""

    def setUp(self) -> None:
        """It has the cluster's key, and knows one name."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        for path, text in (
            (self.paths.authority_key, "key"),
            (self.paths.ssconf_file("master_node"), "node1.example.com\n"),
            (self.paths.etc_hosts, "192.0.2.1 node1.example.com node1\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def test_the_master(self) -> None:
        """The master is not set up anew: with new keys it could reach no node that does not know them yet."""
        for name in ("node1", "node1.example.com"):
            with self.assertRaisesRegex(BootstrapError, "node1.example.com is the master"):
                send(self.paths, JoinRequest(node_name=name, readd=True))


class TakeBackTests(SynchronousTestCase):
    """A node joined, and what came of it."""

    def setUp(self) -> None:
        """The remote shell leaves a mark."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.etc_hosts.parent.mkdir(parents=True)
        self.paths.etc_hosts.write_text("192.0.2.2 node2.example.com node2\n")
        self.paths.data_dir.mkdir(parents=True)
        self.paths.authority_pem.write_bytes(b"authority")
        self.told = self.paths.root / "told"
        shell = self.paths.root / "shell"
        shell.write_text(f"#!/bin/sh\necho $* > {self.told}\n")
        shell.chmod(0o755)
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        self.addCleanup(os.environ.clear)
        os.environ[REMOTE_SHELL_VARIABLE] = str(shell)
        remember_joining(self.paths, "192.0.2.2", "ab12")

    def test_not_added(self) -> None:
        """The node is told to forget it; a second time there is nothing to be told."""
        take_back(self.paths, JoinRequest(node_name="node2"))
        self.assertIn("node2.example.com", self.told.read_text())
        self.assertTrue(self.told.read_text().endswith("ganeti-bootstrap leave\n"))
        self.told.unlink()
        take_back(self.paths, JoinRequest(node_name="node2"))
        self.assertFalse(self.told.exists())

    def test_added(self) -> None:
        """A node that the cluster has taken in keeps its keys, however its command ended."""
        self.paths.ssconf_file("node_certs").write_text("node2.example.com=ab12\n")
        take_back(self.paths, JoinRequest(node_name="node2"))
        self.assertFalse(self.told.exists())
