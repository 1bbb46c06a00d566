"""What stays of a cluster on a node that has left it."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.init import forget
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import rapi_paths


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
