"""daemon-util: what it prints, how it ends, which daemons it starts and stops."""

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.paths import ROOT_VARIABLE, Paths
from ganeti_tx.runtime.pidfile import claim_pid_file
from ganeti_tx.tools import daemon_util


class DaemonUtilCase(SynchronousTestCase):
    """A node below a directory, whose daemons' programs are a script."""

    def setUp(self) -> None:
        root = Path(self.mktemp()).absolute()
        self.paths = Paths(root)
        self.paths.run_dir.mkdir(parents=True)
        self.paths.data_dir.mkdir(parents=True)
        self.patch(os, "environ", {**os.environ, ROOT_VARIABLE: str(root), "GANETI_HOSTNAME": "node2"})
        self.script = root / "daemon"
        self.started = root / "started"
        self.patch(daemon_util, "own_program", self.program)

    def program(self, daemon: str) -> str:
        """A daemon that only writes down its name and options, and ends as `status` of its name says."""
        path = self.paths.root / daemon
        if not path.exists():
            path.write_text(f'#!/bin/sh\necho "{daemon}" "$@" >> {self.started}\n')
            path.chmod(0o755)
        return str(path)

    def ends(self, daemon: str, status: int, word: str) -> None:
        """From now on it does so, with a word."""
        path = Path(self.program(daemon))
        path.write_text(f"{path.read_text()}echo {word} >&2\nexit {status}\n")

    def run_it(self, *words: str) -> tuple[int, str, str]:
        """Its status, and what it says."""
        self.patch(sys, "argv", ["/usr/lib/ganeti/daemon-util", *words])
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = int(daemon_util.main())
        return status, out.getvalue(), err.getvalue()

    def runs(self, daemon: str) -> None:
        """It does from now on, as this process."""
        self.addCleanup(claim_pid_file(self.paths.pid_file(daemon)).release)


class AskingTests(DaemonUtilCase):
    """What is only asked."""

    def test_recorded(self) -> None:
        """As Ganeti's program has printed and ended."""
        for words, found in (
            ((), (1, "", "Usage: /usr/lib/ganeti/daemon-util <action>\n")),
            (("bogus",), (1, "", "Unknown command: bogus\n")),
            (("start",), (1, "", "Missing daemon name.\n")),
            (("is-daemon-name", "ganeti-noded"), (0, "", "")),
            (("is-daemon-name", "ganeti-bogus"), (1, "", "Unknown daemon name 'ganeti-bogus'\n")),
            (("check-exitcode", "0"), (0, "", "")),
            (("check-exitcode", "11"), (0, "", "not master\n")),
            (("check-exitcode", "2"), (1, "", "exit code 2\n")),
            (("check-exitcode",), (1, "", "Missing exit code.\n")),
            (("check-config",), (1, "", f"Missing configuration file {self.paths.server_pem}\n")),
            (("use-systemctl",), (1, "", "")),
            (("rotate-logs", "ganeti-noded"), (0, "", "")),
            (("rotate-all-logs",), (0, "", "")),
            (("reload-ssh-keys",), (0, "", "")),
            (("daemon-pidfile", "ganeti-rapi"), (0, f"{self.paths.pid_file('ganeti-rapi')}\n", "")),
            (("daemon-executable", "ganeti-rapi"), (0, f"{self.program('ganeti-rapi')}\n", "")),
        ):
            self.assertEqual(self.run_it(*words), found, words)

    def test_lists(self) -> None:
        """All are stopped, those of a master that is in two parts, too; the node daemon is started first and stopped last."""
        started = self.run_it("list-start-daemons")[1].split()
        self.assertEqual(started, ["ganeti-noded", "ganeti-master", "ganeti-confd", "ganeti-mond", "ganeti-rapi"])
        stopped = self.run_it("list-stop-daemons")[1].split()
        self.assertEqual((stopped[-1], set(started) <= set(stopped)), ("ganeti-noded", True))

    def test_slips(self) -> None:
        """The nearest action and daemon are named."""
        self.assertEqual(self.run_it("strat")[2], "Unknown command: strat (did you mean start?)\n")
        self.assertIn("(did you mean ganeti-noded?)", self.run_it("check", "ganeti-node")[2])

    def test_check(self) -> None:
        """A part of ganeti-master runs when that does."""
        self.assertEqual(self.run_it("check", "ganeti-luxid")[0], 1)
        self.runs("ganeti-master")
        self.assertEqual([self.run_it("check", f"ganeti-{each}")[0] for each in ("luxid", "wconfd", "rapi")], [0, 0, 1])


class StartingTests(DaemonUtilCase):
    """What is started and stopped."""

    def told(self) -> list[str]:
        """Those that were started, with their options."""
        return self.started.read_text().splitlines() if self.started.exists() else []

    def test_one(self) -> None:
        """With its options, unless it runs; the status is the daemon's."""
        self.assertEqual(self.run_it("start", "ganeti-confd", "-b", "192.0.2.1"), (0, "", ""))
        self.assertEqual(self.told(), ["ganeti-confd -b 192.0.2.1"])
        self.runs("ganeti-confd")
        self.assertEqual((self.run_it("check-and-start", "ganeti-confd")[0], len(self.told())), (0, 1))
        self.ends("ganeti-rapi", 11, "elsewhere")
        self.assertEqual(self.run_it("start", "ganeti-rapi"), (11, "", "elsewhere\n"))

    def test_all(self) -> None:
        """On a master all, elsewhere those of every node; one that fails keeps no other from it."""
        self.assertEqual(self.run_it("start-all")[0], 1)
        self.paths.server_pem.touch()
        master = self.paths.ssconf_file("master_node")
        master.write_text("node1\n")
        self.assertEqual(self.run_it("start-all"), (0, "", ""))
        self.assertEqual(self.told(), ["ganeti-noded", "ganeti-confd", "ganeti-mond"])
        self.started.unlink()
        master.write_text("node2\n")
        self.ends("ganeti-confd", 1, "broken")
        self.assertEqual(self.run_it("start-all"), (1, "", "broken\n"))
        self.assertEqual(self.told(), self.run_it("list-start-daemons")[1].split())

    def test_stop(self) -> None:
        """What does not run is stopped already."""
        for words in (("stop", "ganeti-noded"), ("stop", "ganeti-luxid"), ("stop-master",), ("stop-all",)):
            self.assertEqual(self.run_it(*words), (0, "", ""), words)
