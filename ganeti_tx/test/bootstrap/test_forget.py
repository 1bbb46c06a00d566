"""What stays of a cluster on a node that has left it."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.init import forget
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import rapi_paths

GROUP = "0fb762df-be4b-4d56-9e1f-d3ee8663c438"


class ForgetTests(SynchronousTestCase):
    """`gnt-cluster destroy`, and a node that joins another cluster."""

    def test_users_of_the_remote_api(self) -> None:
        """Users, tokens, roles and the directory's settings would let those of this cluster into the next one."""
        paths = Paths(Path(self.mktemp()).absolute())
        paths.rapi_dir.mkdir(parents=True)
        left = [
            *rapi_paths(paths).values(),
            paths.rapi_record_file,
            paths.temporary_reservations_file,
            paths.joining_file("192.0.2.1"),
            paths.server_pem,
        ]
        for path in left:
            path.write_text("of the cluster")
        (paths.data_dir / "unrelated").write_text("stays")
        forget(paths)
        self.assertEqual([path for path in left if path.exists()], [])
        self.assertTrue((paths.data_dir / "unrelated").exists())

    def test_what_lies_beside(self) -> None:
        """A pause of this cluster's would keep the watcher from the next one; former configurations have secrets."""
        paths = Paths(Path(self.mktemp()).absolute())
        left = [
            paths.watcher_pause_file,
            paths.watcher_state_file(GROUP),
            paths.watcher_instance_status_file(GROUP),
            paths.instance_status_file,
            paths.intent_to_upgrade,
            paths.data_dir / "config.data.backup-2160000",
        ]
        for path in left:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        forget(paths)
        self.assertEqual([path for path in left if path.exists()], [])
