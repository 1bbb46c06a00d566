"""gnt-cluster upgrade on a devcluster: another version on all nodes while an instance runs, and back."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import __version__
from ganeti_tx.runtime.daemon_names import ALL, MASTER_PARTS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.chaos import campaign, observer
from ganeti_tx.test.chaos.cluster import CampaignCluster
from ganeti_tx.test.chaos.load import start_clients, stop_clients
from ganeti_tx.test.real.two_versions import NEWER, TwoVersions

ADD = (
    "gnt-instance add -t file --disk 0:size=1M -o busybox+default -n node2 --no-install --no-name-check --no-ip-check "
    "--ignore-ipolicy web1"
)
EVERYWHERE = ["ganeti-confd", "ganeti-mond", "ganeti-noded"]
ON_MASTER = ["ganeti-confd", "ganeti-master", "ganeti-mond", "ganeti-noded", "ganeti-rapi"]
INTENT = "var/lib/ganeti/intent-to-upgrade"


class TwoVersionsCase(SynchronousTestCase):
    """Two installations beside each other; the newer one is not there yet."""

    def setUp(self) -> None:
        directory = Path(tempfile.mkdtemp(prefix="gtx", dir="/tmp"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.cluster = TwoVersions(directory)
        self.older, self.newer = self.cluster.older, self.cluster.newer
        self.addCleanup(self.cluster.close)
        self.cluster.up()


class UpgradeTests(TwoVersionsCase):
    """With an instance that runs all the while."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster.run(self.older, *ADD.split())
        self.cluster.run(self.older, "gnt-instance", "startup", "web1")

    def run_of(self, node: int) -> dict[str, Path | None]:
        """The daemons of a node by the installation that each is of."""
        paths = Paths(self.cluster.nodes[node - 1].root)
        processes = {daemon: holder(paths.pid_file(daemon)) for daemon in ALL if daemon not in MASTER_PARTS}
        return {daemon: self.cluster.prefix_of(each) for daemon, each in processes.items() if each is not None}

    def check(self, prefix: Path) -> None:
        """All daemons that there should be, of this installation; the instance runs; nothing is left of the upgrade."""
        for node, daemons in ((1, ON_MASTER), (2, EVERYWHERE)):
            self.assertEqual(self.run_of(node), dict.fromkeys(daemons, prefix))
        of = {self.cluster.prefix_of(process) for process in processes_of(self.cluster.root)}
        self.assertEqual(of - {None}, {prefix})
        status = self.cluster.run(prefix, "gnt-instance", "list", "--no-headers", "-o", "status")
        self.assertEqual(status.strip(), "running")
        self.assertIn("unset", self.cluster.run(prefix, "gnt-cluster", "queue", "info"))
        self.assertFalse((self.cluster.nodes[0].root / INTENT).exists())

    def test_there_and_back(self) -> None:
        """Not before all nodes have it; then node by node, in which versions understand each other; and the way back."""
        run = self.cluster.run
        refused = run(self.older, "gnt-cluster", "upgrade", "--to", NEWER, status=1)
        self.assertIn(f"install it in {self.newer} on every node", refused)
        self.assertEqual(
            run(self.older, "gnt-cluster", "upgrade", "--to", "bogus", status=1),
            "Could not parse version string bogus\n",
        )
        self.check(self.older)
        self.cluster.install_newer()
        said = run(self.older, "gnt-cluster", "upgrade", "--to", NEWER)
        self.assertIn("Restarting the daemons of node2.dev.example\n", said)
        self.assertIn(f"All nodes run version {NEWER}; it was {__version__}\n", said)
        self.check(self.newer)
        (backup,) = (self.cluster.nodes[0].root / "var/backups").iterdir()
        self.assertEqual(backup.stat().st_mode & 0o777, 0o600)

        # an older node daemon, on the node that the instance is on
        run(self.older, "ganeti-upgrade", "take-over", *EVERYWHERE, node=2)
        self.assertEqual(set(self.run_of(2).values()), {self.older})
        run(self.newer, "gnt-instance", "reboot", "--shutdown-timeout=0", "web1")
        run(self.newer, "gnt-cluster", "verify")

        said = run(self.newer, "gnt-cluster", "upgrade", "--to", __version__)
        self.assertIn(f"All nodes run version {__version__}; it was {NEWER}\n", said)
        self.check(self.older)

    def test_broken_off(self) -> None:
        """Killed in its midst, it is gone on with; nobody else than the master has anything to do."""
        run = self.cluster.run
        self.cluster.install_newer()
        self.assertIn("No upgrade is under way", run(self.older, "gnt-cluster", "upgrade", "--resume", status=1))
        before, after = (self.older, __version__), (self.newer, NEWER)
        for step in ("Restarting the daemons of the master", "Restarting the daemons of node2"):
            self.kill_at(step, before[0], after[1])
            left = holder(Paths(self.cluster.nodes[1].root).pid_file("ganeti-noded"))
            if step.endswith("node2") and left is not None:  # as it may be left, though a master needs its vote
                os.kill(left, signal.SIGTERM)
            self.assertEqual(run(before[0], "gnt-cluster", "upgrade", "--resume", node=2), "")
            self.assertTrue((self.cluster.nodes[0].root / INTENT).exists())
            self.assertIn(f"All nodes run version {after[1]}", run(before[0], "gnt-cluster", "upgrade", "--resume"))
            self.check(after[0])
            before, after = after, before

    def kill_at(self, step: str, prefix: Path, version: str) -> None:
        """Begin to go to a version, and kill it, with all that it has started, when it says that it does this."""
        begun = subprocess.Popen(
            [str(prefix / "bin/gnt-cluster"), "upgrade", "--to", version],
            env=self.cluster.environment(prefix),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert begun.stdout is not None
        for line in begun.stdout:
            if line.startswith(step):
                break
        else:
            self.fail(f"it never said {step!r}")
        time.sleep(0.3)
        os.killpg(begun.pid, signal.SIGKILL)
        begun.wait()
        begun.stdout.close()


class UnderLoadTests(TwoVersionsCase):
    """With clients that want all kinds of things of the cluster."""

    def test_under_load(self) -> None:
        """No job is lost or done twice, no lock is left, every instance is as the jobs on it made it, no log tells of a fault."""
        self.cluster.install_newer()
        cluster = Watched(self.cluster)
        names = [node.name for node in self.cluster.nodes]
        clients, record = start_clients(cluster.socket, names, 7, 2, roles=False)  # an offline node keeps its version
        looking = observer.Observer(cluster, lambda: set(record.accepted))
        looking.start()
        try:
            self.go(self.older, __version__, NEWER)
            self.go(self.newer, NEWER, __version__)
        finally:
            stop_clients(clients)
        campaign.bring_back(cluster, record)
        unrest = observer.wait_for_calm(cluster, record.accepted, campaign.CALM_LIMIT)
        outcome = campaign.Outcome()
        self.assertEqual([*unrest, *campaign.check_all(cluster, record, looking.stop(), outcome)], [])
        self.assertGreater(outcome.ends["success"], 10)

    def go(self, prefix: Path, version: str, wanted: str) -> None:
        """All nodes do; what its verify finds may be an instance that the clients' jobs had just broken."""
        said = self.cluster.run(prefix, "gnt-cluster", "upgrade", "--to", wanted, status=None)
        self.assertIn(f"All nodes run version {wanted}; it was {version}\n", said)


class Watched(CampaignCluster):
    """A cluster that is up already, as the checks of the campaigns see one."""

    def __init__(self, versions: TwoVersions) -> None:
        self.layout = versions.layout
        self.apart = self.disks = False
        (self.layout.root / "supervisor.log").touch()
