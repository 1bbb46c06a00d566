"""Moves between clusters of which each call goes wrong in turn, or whose jobs are killed at each."""

from collections.abc import Callable, Sequence

from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import TROUBLES, is_of_a_job, nth, some_of
from ganeti_tx.test.inprocess.network import Fault
from ganeti_tx.test.inprocess.remote_move_case import ADD, NAME, RemoteMoveCase

#: Seconds after which both jobs have ended, also if an answer never came.
REST = 2500.0
CONTENT = ["what was on disk 0", "what was on disk 1"]


class EachCallTests(RemoteMoveCase):
    """At each moment all of the instance is in one cluster, or in both, and neither has a part of it."""

    def begin(self) -> tuple[int, int]:
        """Two fresh clusters, with both jobs under way; their ids."""
        self.setUp()
        self.made(ADD)
        given = self.prepared()
        for cluster in (self.cluster, self.other):
            cluster.network.sent.clear()
        receiving = self.create(given)
        return self.export(given, self.listening(receiving)), receiving

    def end(self) -> None:
        """What is to be seen when all is at rest."""
        self.cluster.end()
        self.other.end()

    def calls(self) -> dict[str, int]:
        """How many each job makes from the start of the second on, when all goes well."""
        self.begin()
        before = [count(cluster) for cluster in (self.cluster, self.other)]
        self.cluster.pass_time(REST)
        found = [count(cluster) - each for cluster, each in zip((self.cluster, self.other), before, strict=True)]
        self.end()
        self.assertGreater(min(found), 5)
        return dict(zip(("source", "destination"), found, strict=True))

    def check(self, where: str) -> None:
        """See the class; and no key of the two jobs is left in the destination."""
        here, there = (
            [each.name for each in cluster.config.instances.values()] for cluster in (self.cluster, self.other)
        )
        self.assertTrue(here or there, where)
        if there:
            self.assertEqual(self.contents(self.other, 3), CONTENT, where)
        else:
            self.assertEqual(self.contents(self.cluster, 2), CONTENT, where)
            self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]}, where)
        if not here:
            self.assertEqual(self.cluster.disks(), {}, where)
        self.assertEqual(disagreements(self.other), [], where)
        self.assertEqual(self.keys(self.other), [], where)

    def walk(self, act: Callable[[InProcessCluster, tuple[int, int], int], None], turn: int) -> None:
        """Do something at some of the calls of either job."""
        for which, total in self.calls().items():
            numbers: Sequence[tuple[int, str]] = [(number, which) for number in range(total)]
            for number, _ in some_of(numbers, turn):
                jobs = self.begin()
                act(self.cluster if which == "source" else self.other, jobs, number)
                self.cluster.pass_time(REST)
                self.assertTrue(self.job_of(self.cluster, jobs[0]).finalized)
                self.assertTrue(self.job_of(self.other, jobs[1]).finalized)
                results = [
                    self.job_of(self.cluster, jobs[0]).ops[0].result,
                    self.job_of(self.other, jobs[1]).ops[0].result,
                ]
                self.check(f"{act.__name__} at call {number} of the {which}: {results}")
                self.end()

    def until_called(self, cluster: InProcessCluster, jobs: tuple[int, int], number: int) -> int:
        """Let time pass until the job there has made so many calls, or has ended; its id."""
        wanted, job_id = count(cluster) + number, jobs[0] if cluster is self.cluster else jobs[1]
        for _ in range(100_000):
            if count(cluster) > wanted or self.job_of(cluster, job_id).finalized:
                break
            cluster.pass_time(0.002)
        return job_id

    def kill(self, cluster: InProcessCluster, jobs: tuple[int, int], number: int) -> None:
        """The process of a job is killed."""
        job = self.job_of(cluster, self.until_called(cluster, jobs, number))
        if not job.finalized and job.process_id in cluster.zygote.runners:
            cluster.zygote.kill(job.process_id)

    def cancel(self, cluster: InProcessCluster, jobs: tuple[int, int], number: int) -> None:
        """The operator stops a job."""
        job_id = self.until_called(cluster, jobs, number)
        scene_of(cluster).run(["gnt-job", "cancel", "--kill", "--yes-do-it", str(job_id)])

    def trouble(self, cluster: InProcessCluster, jobs: tuple[int, int], number: int) -> None:
        """A call is refused, never arrives, or its answer is lost."""
        fault: Fault = nth(number, TROUBLES[number % len(TROUBLES)])
        cluster.network.fault = fault

    def test_killed(self) -> None:
        """Whoever takes over takes back, or leaves what is there for good."""
        self.walk(self.kill, turn=1)

    def test_canceled(self) -> None:
        """A stop takes effect as a failure does."""
        self.walk(self.cancel, turn=3)

    def test_troubles(self) -> None:
        """The instance is there, whichever call goes wrong."""
        self.walk(self.trouble, turn=2)


def count(cluster: InProcessCluster) -> int:
    """The calls that jobs have made."""
    return sum(map(is_of_a_job, cluster.network.sent))
