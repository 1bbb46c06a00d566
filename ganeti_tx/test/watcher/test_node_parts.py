"""What is done on every node: scripts, daemons; and what the master does for all groups."""

import os

from attrs import evolve

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.errors import JobQueueError
from ganeti_tx.runtime.daemon_control import is_wanted_and_down
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.watcher.watched import NAME, OTHER, WatchedCase
from ganeti_tx.watcher import master
from ganeti_tx.watcher.daemons import LocalDaemons, rapi_answers, restart_silent, start_missing
from ganeti_tx.watcher.hooks import run_hooks
from ganeti_tx.watcher.main import rapi_address
from ganeti_tx.watcher.master import Group

SCRIPT = "#!/bin/sh\necho $0 $MINE $LC_ALL $PWD >> {0}/ran\n"


class HookTests(WatchedCase):
    """The scripts of the administrator."""

    def script(self, name: str, text: str = SCRIPT, mode: int = 0o755) -> str:
        """One in its place; gives its path."""
        path = self.watched.paths.hooks_dir / "watcher" / name
        return str(self.watched.put(path, text.format(self.watched.root), mode))

    def test_run(self) -> None:
        """Those that can be run are, in order, as the watcher itself was started; one that fails is told and no more."""
        second, first = self.script("20-b"), self.script("10-a")
        self.script("15-bad", "#!/bin/sh\necho no luck >&2; exit 3\n")
        self.script("backup.dpkg-old")
        self.script("30-plain", mode=0o644)
        self.script("40-anybodys", mode=0o777)
        node = self.watched.node
        run_hooks(node)
        ran = (self.watched.root / "ran").read_text()
        self.assertEqual(ran, f"{first} 1 C /\n{second} 1 C /\n")
        self.assertEqual(node.log.failures, 0)
        self.assertEqual(self.watched.lines[0], "hook 15-bad failed with status 3: no luck")
        self.assertIn("40-anybodys: not run, since others may write to it", self.watched.lines[1])

    def test_directory_of_anybody(self) -> None:
        """Nothing is run from a directory in which anybody could have put it."""
        self.script("10-a")
        os.chmod(self.watched.paths.hooks_dir / "watcher", 0o777)
        run_hooks(self.watched.node)
        self.assertFalse((self.watched.root / "ran").exists())


class DaemonTests(WatchedCase):
    """Daemons that died."""

    def setUp(self) -> None:
        """Nothing runs, and what is started runs."""
        super().setUp()
        self.up: list[str] = []
        self.ended: list[str] = []
        self.refused: set[str] = set()
        self.daemons = LocalDaemons(
            runs=lambda paths, daemon: daemon in self.up,
            start=self.start,
            end=lambda paths, daemon: self.ended.append(daemon),
            by_systemd=lambda paths: False,
        )

    def start(self, paths: Paths, daemon: str) -> None:
        """As the real one."""
        if daemon in self.refused:
            raise BootstrapError(f"{daemon} did not start: no luck")
        self.up.append(daemon)

    def follow(self, master_name: str) -> None:
        """Whom the node takes for the master."""
        self.watched.put(self.watched.paths.ssconf_file("master_node"), f"{master_name}\n")

    def test_node(self) -> None:
        """A node has no daemons of the master."""
        self.follow(OTHER)
        start_missing(self.watched.node, self.daemons)
        self.assertEqual(self.up, ["ganeti-noded", "ganeti-confd", "ganeti-mond"])

    def test_master(self) -> None:
        """The master has all; one that does not start is a failure, and the others are started all the same."""
        self.follow(NAME)
        self.refused = {"ganeti-confd"}
        node = self.watched.node
        start_missing(node, self.daemons)
        self.assertEqual(self.up, ["ganeti-noded", "ganeti-master", "ganeti-mond", "ganeti-rapi"])
        self.assertEqual(
            (node.log.failures, "ganeti-confd did not start: no luck" in self.watched.lines[-3]), (1, True)
        )

    def test_apart(self) -> None:
        """Where one half of the master runs apart, the other half is started, not both in one."""
        self.follow(NAME)
        self.up = ["ganeti-noded", "ganeti-wconfd"]
        start_missing(self.watched.node, self.daemons)
        self.assertEqual(
            self.up, ["ganeti-noded", "ganeti-wconfd", "ganeti-luxid", "ganeti-confd", "ganeti-mond", "ganeti-rapi"]
        )

    def test_systemd(self) -> None:
        """Under systemd those of every node are started whose enabled unit was stopped, not the master's, and it is logged."""
        self.follow(NAME)
        down = {"ganeti-confd", "ganeti-mond", "ganeti-master", "ganeti-rapi"}
        ruled = LocalDaemons(start=self.start, by_systemd=lambda paths: True, unit_is_down=down.__contains__)
        start_missing(self.watched.node, ruled)
        self.assertEqual(self.up, ["ganeti-confd", "ganeti-mond"])
        self.assertTrue(any("ganeti-confd does not run; starting it" in line for line in self.watched.lines))

    def test_guests(self) -> None:
        """The metadata daemon runs while there are instances that ask it, whatever ended it; its unit is never enabled."""
        self.follow(OTHER)
        self.watched.put(self.watched.paths.metadata_dir / ".web1.example.com.1-2.tmp", "{}")
        start_missing(self.watched.node, self.daemons)
        self.assertNotIn("ganeti-metad", self.up)
        self.watched.put(self.watched.paths.metadata_dir / "web1.example.com", "{}")
        start_missing(self.watched.node, self.daemons)
        self.assertEqual(self.up.pop(), "ganeti-metad")
        ruled = evolve(self.daemons, by_systemd=lambda paths: True, unit_is_down=lambda daemon: False)
        for _ in range(2):
            start_missing(self.watched.node, ruled)
        self.assertEqual(self.up.count("ganeti-metad"), 1)

    def test_by_hand(self) -> None:
        """One that runs without its unit is left alone."""
        ruled = LocalDaemons(
            runs=lambda paths, daemon: daemon == "ganeti-confd",
            start=self.start,
            by_systemd=lambda paths: True,
            unit_is_down=lambda daemon: True,
        )
        start_missing(self.watched.node, ruled)
        self.assertEqual(self.up, ["ganeti-noded", "ganeti-mond"])

    def test_silent_systemd(self) -> None:
        """Where systemd does not say how a unit is, that is a failure, and the others are looked at."""

        def unit_is_down(daemon: str) -> bool:
            if daemon == "ganeti-noded":
                raise BootstrapError("systemctl show did not end within 10 s")
            return daemon == "ganeti-mond"

        ruled = LocalDaemons(start=self.start, by_systemd=lambda paths: True, unit_is_down=unit_is_down)
        node = self.watched.node
        start_missing(node, ruled)
        self.assertEqual((self.up, node.log.failures), (["ganeti-mond"], 1))

    def test_states_of_units(self) -> None:
        """Only what is enabled and neither runs nor starts is to be started."""
        cases = {
            ("enabled", "inactive"): True,
            ("enabled-runtime", "failed"): True,
            ("enabled", "active"): False,
            ("enabled", "activating"): False,
            ("disabled", "inactive"): False,
            ("masked", "inactive"): False,
            ("", "inactive"): False,
        }
        for (file, active), wanted in cases.items():
            shown = f"UnitFileState={file}\nActiveState={active}\n"
            self.assertIs(is_wanted_and_down(shown), wanted, shown)

    def test_silent(self) -> None:
        """A Remote API that runs and does not answer is ended and started; one that answers is left alone."""
        self.up = ["ganeti-rapi"]
        restart_silent(self.watched.node, lambda: True, self.daemons)
        self.assertEqual(self.ended, [])
        restart_silent(self.watched.node, lambda: False, self.daemons)
        self.assertEqual((self.ended, self.up), (["ganeti-rapi"], ["ganeti-rapi", "ganeti-rapi"]))

    def test_address(self) -> None:
        """The Remote API is asked at the machine's address for itself, in the cluster's family, or at the node's own one."""
        whole, below = evolve(self.watched.node, paths=Paths("/")), self.watched.node
        found = {}
        for family in ("2\n", "10\n"):
            self.watched.put(self.watched.paths.ssconf_file("primary_ip_family"), family)
            found[family] = rapi_address(below)
        self.assertEqual(found, {"2\n": "127.0.0.1", "10\n": "::1"})
        self.watched.put(self.watched.paths.ssconf_file("node_primary_ips"), f"{NAME} 2001:db8::11\n")
        self.assertEqual(rapi_address(below), "2001:db8::11")
        self.assertIn(rapi_address(whole), ("127.0.0.1", "::1"))

    def test_elsewhere(self) -> None:
        """One that was told to listen elsewhere is not restarted again and again."""
        self.up = ["ganeti-rapi"]
        restart_silent(self.watched.node, rapi_answers("127.99.98.97"), self.daemons)
        self.assertEqual(self.ended, [])


class MasterTests(WatchedCase):
    """What is done for all groups."""

    def test_archive(self) -> None:
        """Jobs of an age are archived; a queue that cannot be written is told, and is no failure."""
        self.watched.client.answers["AutoArchiveJobs"] = lambda age, limit: [3, 0]
        master.archive(self.watched.node, self.watched.client, 60)
        self.assertEqual(self.watched.client.sent("AutoArchiveJobs"), [[60, master.ARCHIVE_LIMIT]])

        def refuse(age: int, limit: int) -> None:
            raise JobQueueError("the disk is full")

        self.watched.client.answers["AutoArchiveJobs"] = refuse
        node = self.watched.node
        master.archive(node, self.watched.client, 60)
        self.assertEqual(
            (self.watched.lines[-1], node.log.failures), ("old jobs are not archived: the disk is full", 0)
        )

    def test_leftovers(self) -> None:
        """Files of groups that are gone are removed, those of others and the pause stay."""
        paths = self.watched.paths
        kept = [paths.watcher_state_file("a"), paths.watcher_instance_status_file("a"), paths.watcher_pause_file]
        gone = [
            paths.watcher_state_file("b"), paths.watcher_instance_status_file("b"), paths.watcher_group_lock_file("b")
        ]  # fmt: skip
        for path in (*kept, *gone):
            self.watched.put(path, "")
        master.remove_leftovers(self.watched.node, [Group("a", "default")])
        self.assertEqual([path.exists() for path in (*kept, *gone)], [True] * 3 + [False] * 3)

    def test_merged(self) -> None:
        """One file has the instances of all groups, by name."""
        paths = self.watched.paths
        self.watched.put(paths.watcher_instance_status_file("a"), "web2 running\n")
        self.watched.put(paths.watcher_instance_status_file("b"), "db1 ADMIN_down\nhalf")
        master.merge_status(self.watched.node, [Group("a", "default"), Group("b", "rack1")])
        self.assertEqual(paths.instance_status_file.read_text(), "db1 ADMIN_down\nweb2 running\n")
