"""Where versions are looked for, what is kept of an upgrade, what is copied before it, and when the queue is empty."""

import json
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from attrs import define, frozen
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import run
from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.upgrade.backup import add_all, back_up, entries
from ganeti_tx.upgrade.cluster import ClusterUpgrade
from ganeti_tx.upgrade.installations import checked, places
from ganeti_tx.upgrade.intent import Intent, drop_intent, read_intent, write_intent
from ganeti_tx.upgrade.jobs import DRAIN_LIMIT, Jobs
from ganeti_tx.upgrade.on_node import Look
from ganeti_tx.upgrade.remote import ended


class Queue:
    """A master daemon's answers: how many jobs there are at each look."""

    def __init__(self, left: list[int]) -> None:
        self.left = left
        self.drained = False

    def __enter__(self) -> "Queue":
        return self

    def __exit__(self, *_ended: object) -> None:
        return None

    def query_config_values(self, names: list[str]) -> list[bool]:
        """The drain flag."""
        return [self.drained]

    def set_drain_flag(self, drained: bool) -> None:
        """Set it."""
        self.drained = drained

    def query(self, what: str, fields: list[str], wanted: Any) -> dict[str, Any]:
        """Those that are left."""
        left = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return {"data": [[[0, number]] for number in range(left)]}


class JobsTests(SynchronousTestCase):
    """Draining the queue."""

    def jobs(self, queue: Queue) -> Jobs:
        """Time goes by only while somebody waits."""
        self.now, self.said = 0.0, list[str]()

        def sleep(seconds: float) -> None:
            self.now += seconds

        return Jobs(Paths(), self.said.append, sleep, lambda: self.now, lambda path: queue)  # type: ignore[arg-type, return-value]

    def test_drain(self) -> None:
        """It waits for all, and tells how many are left when that changes."""
        queue = Queue([2, 2, 1, 0])
        jobs = self.jobs(queue)
        jobs.drain()
        self.assertEqual(
            (queue.drained, self.said), (True, ["Waiting for 2 job(s) to end", "Waiting for 1 job(s) to end"])
        )
        jobs.open()
        self.assertFalse(queue.drained)

    def test_for_ever(self) -> None:
        """A job that does not end ends the wait."""
        error = self.assertRaises(GanetiError, self.jobs(Queue([1])).drain)
        self.assertIn("1 job(s) have not ended within 129600 s", str(error))
        self.assertGreater(self.now, DRAIN_LIMIT)

    def test_no_master(self) -> None:
        """Nobody answers while the master daemon is down."""

        def connect(path: str) -> Any:
            raise NoMasterError("down")

        self.assertFalse(Jobs(Paths(), print, connect=connect).can_be_asked())


class Nodes:
    """Nodes on which the node daemon runs, and nothing else."""

    def look(self, node: str, prefix: Path) -> Look:
        """What is seen now."""
        return Look(version="0.2.0", daemons=("ganeti-noded",))


class MixedNodes(Nodes):
    """One of which does not have the version."""

    here = "node1"

    def look(self, node: str, prefix: Path) -> Look:
        """What is seen now."""
        return Look(version="0.0.9" if node == self.here else "0.2.0", daemons=())


@frozen
class NamedNode:
    """As the master's ssconf has it."""

    name: str
    offline: bool = False


class TwoNodes:
    """The ssconf of their cluster."""

    def master_node(self) -> str:
        """This node."""
        return MixedNodes.here

    def nodes(self) -> list[NamedNode]:
        """All."""
        return [NamedNode("node1"), NamedNode("node2")]


@define
class PlacedUpgrade(ClusterUpgrade):
    """The version is in a directory of the test's."""

    prefix: Path

    def _installed(self, version: str) -> Path:
        return self.prefix


class WantedTests(SynchronousTestCase):
    """What is to run on a node."""

    def test_back_again(self) -> None:
        """What ran at the beginning, though it was ended since; of a node that was offline then, what runs now."""
        upgrade = ClusterUpgrade(Paths(), None, None, Nodes(), print)  # type: ignore[arg-type]
        intent = Intent(
            version="0.2.0",
            former="0.1.0",
            directory="/opt/ganeti_tx-0.2.0",
            was_drained=False,
            daemons={"node1": ("ganeti-noded", "ganeti-master")},
        )
        self.assertEqual(upgrade.wanted_on("node1", intent), ("ganeti-noded", "ganeti-master"))
        self.assertEqual(upgrade.wanted_on("node2", intent), ("ganeti-noded",))


class BrokenOffTests(SynchronousTestCase):
    """What is left when it does not come to its end."""

    def test_interrupted(self) -> None:
        """Who has no patience finds the queue as it was, and hears how to go on."""
        queue, said = Queue([1]), list[str]()

        def interrupted(seconds: float) -> None:
            self.assertTrue(queue.drained)
            raise KeyboardInterrupt

        jobs = Jobs(Paths(), said.append, interrupted, connect=lambda path: queue)  # type: ignore[arg-type, return-value]
        upgrade = ClusterUpgrade(Paths(), None, jobs, Nodes(), said.append)  # type: ignore[arg-type]
        intent = Intent(version="0.2.0", former="0.1.0", directory="/opt/new", was_drained=False, daemons={})
        self.assertRaises(KeyboardInterrupt, upgrade._carry_out, intent, {})
        self.assertFalse(queue.drained)
        self.assertIn("--resume", said[-1])

    def test_any_bytes(self) -> None:
        """What a node says need not be text of this machine's encoding."""
        self.assertEqual(ended(["printf", r"\351t\351"], 60.0).stdout, "\ufffdt\ufffd")
        self.assertEqual(run(["printf", r"\351t\351"], 60.0).stdout, "\ufffdt\ufffd")


class PartsTests(SynchronousTestCase):
    """What needs no daemons."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.paths = Paths(Path(directory.name))
        self.paths.data_dir.mkdir(parents=True)

    def test_places(self) -> None:
        """Beside this installation, with or without a number in the name."""
        first, second = Path("/opt/ganeti_tx"), Path("/opt/ganeti_tx-0.2.0")
        self.assertEqual(list(places("0.2.0", first, "0.1.0")), [second, first])
        self.assertEqual(list(places("0.1.0", second, "0.2.0")), [Path("/opt/ganeti_tx-0.1.0"), first])
        self.assertEqual(next(places("0.2.0", second, "0.2.0")), second)

    def test_versions(self) -> None:
        """Nothing that is no version becomes part of a path."""
        self.assertEqual(checked("0.2.0"), "0.2.0")
        for wrong in ("bogus", "", "1", "../1.0", "1.0/..", "1.0\n", "1.0; true", "1..0"):
            error = self.assertRaises(BootstrapError, checked, wrong)
            self.assertEqual(str(error), f"Could not parse version string {wrong}")

    def test_back_with_images(self) -> None:
        """No older version gets disks of a format: it is said which, whose, and what to do."""
        disk = {"uuid": "disk0", "dev_type": "file", "params": {"format": "qcow2"}}
        self.paths.config_file.write_text(
            json.dumps({"disks": {"disk0": disk}, "instances": {"web1": {"name": "web1", "disks": ["disk0"]}}})
        )
        upgrade = ClusterUpgrade(self.paths, None, None, Nodes(), print)  # type: ignore[arg-type]
        older = "0.0.9"
        told = (
            "disk disk0 is of format qcow2, which version 0.0.9 may take for raw; convert it first:"
            " gnt-instance modify -t file -e format=raw web1"
        )
        self.assertEqual(list(upgrade._disk_faults(older)), [told])
        for version in (__version__, "0.10.0", "1.0"):
            self.assertEqual(list(upgrade._disk_faults(version)), [])
        self.paths.config_file.write_text(json.dumps({"disks": {"disk0": {**disk, "params": {}}}, "instances": {}}))
        self.assertEqual(list(upgrade._disk_faults(older)), [])

    def test_all_at_once(self) -> None:
        """Who begins, and who goes on, hears everything that stands in the way; nothing is begun, or gone on with."""
        disks = {
            f"disk{number}": {"uuid": f"disk{number}", "dev_type": "file", "params": {"format": "qcow2"}}
            for number in "01"
        }
        self.paths.config_file.write_text(
            json.dumps({"disks": disks, "instances": {"web1": {"name": "web1", "disks": [*disks]}}})
        )
        prefix = self.paths.data_dir / "ganeti_tx-0.0.9"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "bin" / "cfgupgrade").symlink_to("/bin/true")
        upgrade = PlacedUpgrade(self.paths, TwoNodes(), None, MixedNodes(), print, prefix)  # type: ignore[arg-type]
        intent = Intent(version="0.0.9", former=__version__, directory=str(prefix), was_drained=False, daemons={})
        for kept, begin in ((False, lambda: upgrade.to("0.0.9")), (True, upgrade.resume)):
            if kept:
                write_intent(self.paths, intent)
            told = str(self.assertRaises(BootstrapError, begin)).splitlines()
            self.assertEqual(
                [line.split(" ", 2)[:2] for line in told], [["node", "node2:"], ["disk", "disk0"], ["disk", "disk1"]]
            )
            self.assertEqual(read_intent(self.paths), intent if kept else None)

    def test_intent(self) -> None:
        """What was written is read, until it is done."""
        self.assertIs(read_intent(self.paths), None)
        intent = Intent(
            version="0.2.0",
            former="0.1.0",
            directory="/opt/ganeti_tx-0.2.0",
            was_drained=False,
            daemons={"node1": ("ganeti-noded",)},
        )
        write_intent(self.paths, intent)
        self.assertEqual(read_intent(self.paths), intent)
        self.assertEqual(self.paths.intent_to_upgrade.stat().st_mode & 0o777, 0o600)
        self.paths.intent_to_upgrade.write_text("{")
        self.assertRaises(GanetiError, read_intent, self.paths)
        drop_intent(self.paths)
        drop_intent(self.paths)

    def test_backup(self) -> None:
        """All of the data directory but exports and archived jobs; only root reads it."""
        for name in ("config.data", "queue/job-1", "queue/archive/0/job-2", "export/web1/config.ini", "rapi/users"):
            path = self.paths.data_dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        kept = back_up(self.paths, "0.1.0")
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        with tarfile.open(kept) as archive:
            files = sorted(member.name for member in archive if member.isfile())
        self.assertEqual(files, ["config.data", "queue/job-1", "rapi/users"])

    def test_backup_of_what_goes(self) -> None:
        """A file that goes while the others are copied, as jobs do that are archived, is left out."""
        top = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, top)
        (top / "queue").mkdir()
        for name in ("queue/job-1", "queue/job-2", "ssconf_node_list"):
            (top / name).write_text(name)
        listed = list(entries(top))
        (top / "queue/job-1").unlink()
        with tarfile.open(top.with_suffix(".tar"), "w") as archive:
            self.addCleanup(top.with_suffix(".tar").unlink)
            add_all(archive, top, listed)
            self.assertEqual(archive.getnames(), ["queue", "ssconf_node_list", "queue/job-2"])
