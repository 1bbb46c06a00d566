"""Where everything is."""

from pathlib import Path

from attrs.exceptions import FrozenInstanceError
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.paths import Paths


class PathsTests(SynchronousTestCase):
    """Ganeti's own paths, below any root."""

    def test_no_root(self) -> None:
        """Without a root the paths are Ganeti's own."""
        for environ in ({}, {"GANETI_ROOTDIR": ""}):
            paths = Paths.from_environment(environ)
            self.assertEqual(str(paths.config_file), "/var/lib/ganeti/config.data")
            self.assertEqual(str(paths.query_socket), "/var/run/ganeti/socket/ganeti-query")
            self.assertEqual(str(paths.etc_hosts), "/etc/hosts")

    def test_root(self) -> None:
        """Every path is below the root of the environment."""
        paths = Paths.from_environment({"GANETI_ROOTDIR": "/tmp/node1"})
        named = [getattr(paths, name) for name in dir(paths) if not name.startswith("_")]
        found = [path for path in named if isinstance(path, Path)] + [*paths.os_search_path]
        self.assertGreater(len(found), 80)
        self.assertEqual([path for path in found if not path.is_relative_to("/tmp/node1")], [])

    def test_relative_root(self) -> None:
        """A root that would move with the working directory is refused."""
        self.assertRaises(ValueError, Paths.from_environment, {"GANETI_ROOTDIR": "node1"})

    def test_jobs(self) -> None:
        """Ten thousand archived jobs share a directory."""
        paths = Paths()
        self.assertEqual(str(paths.job_file(12)), "/var/lib/ganeti/queue/job-12")
        self.assertEqual(str(paths.archived_job_file(9999)), "/var/lib/ganeti/queue/archive/0/job-9999")
        self.assertEqual(str(paths.archived_job_file(20000)), "/var/lib/ganeti/queue/archive/2/job-20000")

    def test_named(self) -> None:
        """Daemons and ssconf keys have their files; a name cannot lead elsewhere."""
        paths = Paths()
        self.assertEqual(str(paths.log_file("ganeti-noded")), "/var/log/ganeti/node-daemon.log")
        self.assertEqual(str(paths.pid_file("ganeti-noded")), "/var/run/ganeti/ganeti-noded.pid")
        self.assertEqual(str(paths.ssconf_file("node_list")), "/var/lib/ganeti/ssconf_node_list")
        self.assertRaises(ValueError, paths.ssconf_file, "/../../etc/passwd")
        self.assertRaises(ValueError, paths.pid_file, "..")

    def test_fixed(self) -> None:
        """Paths do not change."""
        with self.assertRaises((AttributeError, FrozenInstanceError)):
            Paths().root = Path("/other")  # type: ignore[misc]
