"""The programs, each with all that was recorded of it: nothing differs but what is declared, and that does."""

from collections.abc import Sequence

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.recorded_programs.case import RecordedProgramCase
from ganeti_tx.test.inprocess.recorded_programs.page import APART


class WholeRecordCase(RecordedProgramCase):
    """Plays one record."""

    def play(self, program: str) -> None:
        """There is no difference."""
        wrong: list[str] = []
        for number, line in enumerate(recorded.lines(f"whole/{program}.jsonl")):
            if line.get("apart") not in APART:
                wrong += [f"{number}: {' '.join(line['argv'])}: {each}" for each in self.wrong(line)]
        self.assertEqual("\n".join(wrong), "")


class ProgramTests(WholeRecordCase):
    """On a cluster with the recorded settings."""

    def test_oses(self) -> None:
        """gnt-os."""
        self.play("gnt-os")

    def test_filters(self) -> None:
        """gnt-filter."""
        self.play("gnt-filter")

    def test_debugging(self) -> None:
        """gnt-debug."""
        self.play("gnt-debug")

    def test_backups(self) -> None:
        """gnt-backup."""
        self.play("gnt-backup")

    def test_groups(self) -> None:
        """gnt-group."""
        self.play("gnt-group")

    def test_nodes(self) -> None:
        """gnt-node."""
        self.play("gnt-node")


class ClusterTests(WholeRecordCase):
    """On a cluster of which little was changed yet."""

    SETTINGS: Sequence[str] = (
        "gnt-cluster modify -N link=br0 --enabled-disk-templates=diskless,file,sharedfile "
        "--ipolicy-disk-templates=file,sharedfile,diskless -I hail",
    )

    def test_cluster(self) -> None:
        """gnt-cluster."""
        self.play("gnt-cluster")


class NewClusterTests(WholeRecordCase):
    """On a cluster as it is when it is new."""

    SETTINGS: Sequence[str] = ()

    def test_networks(self) -> None:
        """gnt-network."""
        self.play("gnt-network")


class FirstJobsTests(WholeRecordCase):
    """On a cluster of which nothing was asked yet, and which a third node can join."""

    SETTINGS: Sequence[str] = ()

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """With two machines that are spare."""
        cluster = InProcessCluster(2, seed, 2)
        self.addCleanup(cluster.end)
        return cluster

    def test_jobs(self) -> None:
        """gnt-job."""
        self.play("gnt-job")
