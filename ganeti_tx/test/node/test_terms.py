"""What a node makes of messages that come late, twice, in another order, or from a former master."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred, succeed
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GenericError
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.answers import methods_of
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.service import UPLOADS
from ganeti_tx.node.terms import MAX_NAMES, Terms
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.calls.node import NodeDemoteFromMc
from ganeti_tx.rpc.calls.queue import (
    JobqueueDigests,
    JobqueuePurge,
    JobqueueRename,
    JobqueueSetDrainFlag,
    JobqueueSweep,
    JobqueueUpdate,
)
from ganeti_tx.runtime.files import DEFAULT_FILE_MODE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles

CONFIG = "/var/lib/ganeti/config.data"


def stamp(sequence: int, term: int = 1, master: str = "node1", cluster: str = "c") -> Stamp:
    """A moment of a master's term."""
    return Stamp(cluster=cluster, master=master, term=term, sequence=sequence)


def update(sequence: int, data: str, job: int = 1, **who: Any) -> JobqueueUpdate:
    """A copy of one job file."""
    return JobqueueUpdate(files=[(f"job-{job}", data)], sequences=[sequence], stamp=stamp(sequence, **who))


def config(serial: int, cluster: str = "c", **who: Any) -> UploadFile:
    """A configuration."""
    data = f'{{"serial_no": {serial}, "cluster": {{"uuid": "{cluster}"}}}}'.encode()
    return UploadFile(path=CONFIG, data=data, serial=serial, stamp=stamp(0, cluster=cluster, **who))


class TermCase(SynchronousTestCase):
    """An empty candidate."""

    def setUp(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.paths, self.files = Paths(Path("/node")), MemoryFiles()
        for directory in (self.paths.data_dir, self.paths.queue_dir, self.paths.queue_archive_dir):
            self.files.mkdir(directory)
        self.start()

    def start(self) -> None:
        """Start the node daemon, which remembers nothing but what is on disk."""
        terms = Terms(self.files, self.paths)
        copies = JobCopies(self.files, self.paths, terms)
        files = ClusterFiles(self.files, self.paths, UPLOADS, "node3", terms, copies)
        self.methods = methods_of([files, copies])

    def call(self, call: Any) -> "Deferred[Any]":
        """A message comes in."""
        return Deferred.fromCoroutine(self.methods[type(call)](call))

    def do(self, *calls: Any) -> None:
        """Messages that are taken, or left out without a word."""
        for call in calls:
            self.successResultOf(self.call(call))

    def refused(self, *calls: Any) -> None:
        """Messages that are refused."""
        for call in calls:
            self.failureResultOf(self.call(call), GenericError)

    def queue(self) -> dict[str, str]:
        """The copies that are there."""
        names = [name for name in self.files.listdir(self.paths.queue_dir) if name not in ("archive", "lost+found")]
        return {name: self.files.read(self.paths.queue_dir / name, 1 << 20).decode() for name in names}

    def config(self) -> int:
        """The serial number of the configuration that is there."""
        return int(self.files.read(self.paths.config_file, 1 << 20).split(b",")[0].split(b":")[1])


class SlowFiles(MemoryFiles):
    """A disk that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.ready: Deferred[None] = succeed(None)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See IFiles."""
        await self.ready
        await super().write_many(files, mode)


class SlowDiskTests(TermCase):
    """A claim comes while a former master's copy of a job is being written."""

    def test_claim(self) -> None:
        """It is answered when that is over, so that nothing is written over what the new master does; others are refused."""
        self.files = disk = SlowFiles()
        for directory in (self.paths.data_dir, self.paths.queue_dir, self.paths.queue_archive_dir):
            disk.mkdir(directory)
        self.start()
        disk.ready = Deferred()
        slow = self.call(update(1, "slow"))
        waits = self.call(update(2, "waits", job=2))
        claim = self.call(config(5, term=2, master="node3"))
        for each in (slow, waits, claim):
            self.assertNoResult(each)
        disk.ready.callback(None)
        self.successResultOf(slow)
        self.failureResultOf(waits, GenericError)
        self.successResultOf(claim)
        self.assertEqual(self.queue(), {"job-1": "slow"})


class OrderTests(TermCase):
    """Messages of one master."""

    def test_late(self) -> None:
        """Of each file the latest stays, whatever comes after it."""
        self.do(update(5, "new"), update(3, "old"), update(4, "other job", job=2))
        self.assertEqual(self.queue(), {"job-1": "new", "job-2": "other job"})

    def test_late_after_archival(self) -> None:
        """A late copy does not bring an archived job back, also when the daemon was restarted in between."""
        self.do(JobqueueSweep(live=[], up_to=0, stamp=stamp(1)))
        self.do(update(5, "end"), JobqueueRename(renames=[("job-1", "archive/0/job-1")], stamp=stamp(7)))
        self.do(update(6, "late"))
        self.start()
        self.do(update(6, "late"))
        self.assertEqual(self.queue(), {})

    def test_late_after_purge(self) -> None:
        """What was sent before a purge is not taken after it; what is sent later is."""
        self.do(update(5, "a"), JobqueuePurge(stamp=stamp(9)), update(8, "late"), update(4, "later", job=7))
        self.assertEqual(self.queue(), {})
        self.do(update(10, "again"))
        self.assertEqual(self.queue(), {"job-1": "again"})

    def test_late_purge(self) -> None:
        """A purge that comes late removes what was there when it was sent, and nothing newer."""
        self.do(update(1, "old", job=1), update(9, "new", job=2))
        self.do(JobqueueSetDrainFlag(drained=True, stamp=stamp(9)), JobqueuePurge(stamp=stamp(5)))
        self.assertEqual(self.queue(), {"job-2": "new", "drain": ""})

    def test_drain_flag(self) -> None:
        """The last word about the flag stays."""
        self.do(JobqueueSetDrainFlag(drained=False, stamp=stamp(9)), JobqueueSetDrainFlag(drained=True, stamp=stamp(8)))
        self.assertFalse(self.files.exists(self.paths.queue_drain_file))

    def test_simple_configuration(self) -> None:
        """Older simple configuration is refused; the same again is not."""
        for serial in (5, 5):
            self.do(WriteSsconfFiles(values={"cluster_name": "new"}, serial=serial, stamp=stamp(1)))
        self.refused(WriteSsconfFiles(values={"cluster_name": "old"}, serial=4, stamp=stamp(2)))
        self.assertEqual(self.files.read(self.paths.ssconf_file("cluster_name"), 99), b"new\n")

    def test_simple_configuration_after_a_restart(self) -> None:
        """A daemon that was restarted takes none that is older either; a later term begins anew."""

        def sent(serial: int, term: int = 1) -> WriteSsconfFiles:
            values = {"cluster_tags": str(serial)}
            return WriteSsconfFiles(values=values, serial=serial, stamp=stamp(0, term=term))

        self.do(sent(5))
        self.start()
        self.refused(sent(4))
        self.do(sent(5), sent(3, term=2))
        self.start()
        self.refused(sent(2, term=2))

    def test_many(self) -> None:
        """What is remembered has a limit; behind it the order of all counts together."""
        terms = Terms(self.files, self.paths)
        for number in range(MAX_NAMES + 1):
            terms.note(f"job-{number}", number + 1)
        self.assertLessEqual(len(terms._sequences), MAX_NAMES)
        self.assertFalse(terms.is_newer("job-1", 1))
        self.assertTrue(terms.is_newer("job-1", MAX_NAMES))
        self.assertFalse(terms.is_newer(f"job-{MAX_NAMES}", MAX_NAMES))

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=8),
        st.randoms(use_true_random=False),
    )
    def test_any_order(self, writes: list[tuple[int, bool]], random: Any) -> None:
        """In whatever order and however often messages come, in the end each file is as its last message has it."""
        self.reset()
        messages = [update(number, f"state {number}", job) for number, (job, _) in enumerate(writes, 1)]
        twice = [message for message, (_, again) in zip(messages, writes, strict=True) if again]
        shuffled = [*messages, *twice]
        random.shuffle(shuffled)
        self.do(*shuffled)
        wanted = {f"job-{job}": f"state {number}" for number, (job, _) in enumerate(writes, 1)}
        self.assertEqual(self.queue(), wanted)


class TwoMastersTests(TermCase):
    """node1 was the master, node2 has taken over."""

    def everything(self, sequence: int, **who: Any) -> Sequence[Any]:
        """One message of each kind."""
        at = stamp(sequence, **who)
        return (
            update(sequence, "x", **who),
            JobqueueRename(renames=[("job-1", "archive/0/job-1")], stamp=at),
            JobqueueSetDrainFlag(drained=True, stamp=at),
            JobqueuePurge(stamp=at),
            NodeDemoteFromMc(stamp=at),
            WriteSsconfFiles(values={"master_node": "x"}, serial=sequence, stamp=at),
            config(sequence, **who),
        )

    def test_former_master(self) -> None:
        """A former master is refused whatever it sends, with whatever numbers, also after a restart of the daemon."""
        self.do(update(5, "one"), update(1, "two", term=2, master="node2"))
        for _ in range(2):
            self.refused(*self.everything(999))
            self.start()
        self.assertEqual(self.queue(), {"job-1": "two"})

    def test_same_right(self) -> None:
        """Of two that claim the same term, the one that was heard first is the master."""
        self.do(update(1, "two", term=2, master="node2"))
        self.refused(*self.everything(999, term=2, master="node1"))

    def test_queue_of_new_master(self) -> None:
        """What a former master archived on its own is brought back, what it accepted on its own is set aside, and its ids
        are not counted on from, all until the copies were put right once; a daemon that is restarted knows whether.
        """
        serial = JobqueueUpdate(files=[("serial", "9")], sequences=[5], stamp=stamp(5))
        self.do(JobqueueSweep(live=[], up_to=0, stamp=stamp(1)), serial, update(5, "end"))
        self.do(*(update(5, "its own", job=job) for job in (3, 9, 20001)))
        archived = [("job-1", "archive/0/job-1"), ("job-3", "archive/0/job-3"), ("job-20001", "archive/2/job-20001")]
        self.do(JobqueueRename(renames=archived, stamp=stamp(7)))
        new: dict[str, Any] = {"term": 2, "master": "node2"}
        self.do(update(1, "live", **new), JobqueueUpdate(files=[("serial", "1")], sequences=[2], stamp=stamp(2, **new)))
        self.start()
        self.do(update(9, "just accepted", job=2, **new), JobqueueSweep(live=[1], up_to=1, stamp=stamp(8, **new)))
        self.assertEqual(self.queue(), {"job-1": "live", "job-2": "just accepted", "serial": "1"})
        self.assertFalse(any(self.files.exists(self.paths.archived_job_file(job)) for job in (1, 3, 20001)))
        self.assertEqual(self.files.listdir(self.paths.queue_lost_dir), ["job-20001", "job-3", "job-9"])
        self.do(update(9, "another", job=3, **new))
        self.assertEqual(self.queue().pop("job-3"), "another")
        self.files.remove(self.paths.job_file(3))
        self.do(JobqueueRename(renames=[("job-1", "archive/0/job-1")], stamp=stamp(11, **new)))
        self.start()
        late = JobqueueUpdate(files=[("serial", "0"), ("job-1", "late")], sequences=[10, 10], stamp=stamp(10, **new))
        self.do(late, JobqueueSweep(live=[1], up_to=1, stamp=stamp(8, **new)))
        self.assertEqual(self.queue(), {"job-2": "just accepted", "serial": "1"})

    def test_lower_serial_of_new_master(self) -> None:
        """A new master's configuration counts, though the former one went on counting; from then on its serials do."""
        self.do(config(105))
        self.do(config(101, term=2, master="node2"))
        self.assertEqual(self.config(), 101)
        self.refused(config(110), config(100, term=2, master="node2"))
        self.do(config(102, term=2, master="node2"))
        self.assertEqual(self.config(), 102)

    def test_other_cluster(self) -> None:
        """A node that belongs to another cluster now takes that one's numbers."""
        self.do(config(105), update(50, "old"))
        self.do(config(2, cluster="d"), update(1, "new", cluster="d"))
        self.assertEqual((self.config(), self.queue()), (2, {"job-1": "new"}))

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5), st.booleans()), max_size=12))
    def test_config_never_goes_back(self, messages: list[tuple[int, int, bool]]) -> None:
        """However configurations come, term and serial number together only rise."""
        self.reset()
        held = (0, 0)
        for term, serial, restart in messages:
            if restart:
                self.start()
            sent = self.call(config(serial, term=term, master=f"node{term}"))
            sent.addErrback(lambda failure: failure.trap(GenericError))
            self.successResultOf(sent)
            now = max(held, (term, serial)) if term >= held[0] else held
            held = now
            self.assertEqual(self.config(), held[1])


class DigestTests(TermCase):
    """jobqueue_digests."""

    def test_digests(self) -> None:
        """The same content has the same digest; what is not there is left out."""
        self.do(update(1, "a"), update(2, "a", job=2), update(3, "b", job=3))
        found = self.successResultOf(self.call(JobqueueDigests(names=["job-1", "job-2", "job-3", "job-4"])))
        self.assertEqual(sorted(found), ["job-1", "job-2", "job-3"])
        self.assertEqual(found["job-1"], found["job-2"])
        self.assertNotEqual(found["job-1"], found["job-3"])
