"""An operation whose node calls go wrong in turn, or whose job is ended at each of them; afterwards all must agree."""

import errno
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TypeVar

from attrs import frozen

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.test.fakes.files import error
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase, scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster
from ganeti_tx.test.inprocess.network import Fault, Says, Sent, Trouble

SAYS_NO = Says("no, not today")
#: The ways in which a call goes wrong: it is refused, never arrives, or is done and nobody hears of it.
TROUBLES: Sequence[Trouble | Says] = (SAYS_NO, Trouble.LOST, Trouble.ANSWER_LOST)
#: Of calls of one kind to one node so many go wrong, each in its turn.
REPEATS = 2
#: Calls that distribute what a job has already written; they go wrong in tests of their own.
DISTRIBUTION = ("upload_file", "write_ssconf_files")
#: Seconds after which a job that was ended has come to rest, and so have the nodes.
REST = 60.0
#: Seconds for which a disk is full: longer than what is done meanwhile.
FULL = 3.0
WRITES = ("write_atomic", "write_many", "rename", "mkdir")
TICK = 0.002
#: Whether a job has ended is looked at once in so many ticks, as that is read from its file.
LOOKS = 20
#: What an operation says that leaves a disk which it cannot remove, and succeeds all the same.
LEFT = "could not remove disk/"
#: Seconds within which a good run has ended.
LIMIT = 600.0


@frozen
class Operation:
    """A command line that is tried out in a fresh cluster, after others that lead up to it.

    @ivar again: what puts right whatever a failure has left; None: the same line.
    @ivar partly: whether a failure may leave it half done, as the error says, so that all agree only when it was put right.
    @ivar done: whether the cluster has what it was to bring; a job that is ended at its very last call has done it.
    @ivar pause: seconds between `before` and it.
    """

    line: str
    before: Sequence[str] = ()
    again: str | None = None
    mirrored: bool = False
    partly: bool = False
    done: Callable[[InProcessCluster], bool] = lambda cluster: False
    pause: float = 0.0

    def submitted(self) -> str:
        """The line for who does not wait for the job."""
        program, command, *rest = self.line.split()
        return " ".join((program, command, "--submit", *rest))


Case = TypeVar("Case", bound="EachCallCase")
Calls = Sequence[tuple[int, str]]


#: One of so many calls goes wrong in a usual run, and at one of so many the job ends.
USUAL, ENDING = 12, 4


def some_of(calls: Calls, turn: int, one_of: int = USUAL) -> Calls:
    """Every twelfth call, or as many as are wanted, beginning with another one in each turn; all with GANETI_EVERY_CALL set."""
    return calls if os.environ.get("GANETI_EVERY_CALL") else calls[turn % one_of :: one_of]


class EachCallCase(ClusterCase):
    """Has the walks over the calls of an operation."""

    def prepared(self, operation: Operation) -> InProcessCluster:
        """A fresh cluster in which the operation can begin."""
        if operation.mirrored:
            self.cluster, _ = mirrored_cluster()
            self.addCleanup(self.cluster.end)
        else:
            self.cluster = self.new_cluster()
        for line in operation.before:
            self.ok(line)
        self.cluster.pass_time(operation.pause)
        self.cluster.network.sent.clear()
        return self.cluster

    def calls_of_a_good_run(self, operation: Operation) -> Sequence[tuple[int, str]]:
        """The calls of the operation's own job, by their number and name; of those that only ask again, the first ones."""
        cluster = self.prepared(operation)
        self.ok(operation.line)
        self.assert_agreed(cluster, "in a good run")
        cluster.end()
        seen: Counter[tuple[str, str]] = Counter()
        calls = []
        for number, each in enumerate(filter(is_of_a_job, cluster.network.sent)):
            seen[each.node, each.call.name] += 1
            if seen[each.node, each.call.name] <= REPEATS:
                calls.append((number, each.call.name))
        return calls

    def assert_agreed(self, cluster: InProcessCluster, where: str) -> None:
        """The configuration is what is on the nodes."""
        self.assertEqual(self.faults(cluster), [], where)

    def faults(self, cluster: InProcessCluster) -> list[str]:
        """What is not as the configuration says, a line each."""
        return disagreements(cluster)

    def check_troubles(self, operation: Operation, troubles: Sequence[Trouble | Says] = TROUBLES) -> None:
        """Let each call go wrong in turn, in each way."""
        calls = self.calls_of_a_good_run(operation)
        for turn, trouble in enumerate(troubles):
            for number, name in some_of(calls, turn):
                self.check_trouble(operation, nth(number, trouble), f"{trouble} for call {number}, {name}")

    def check_trouble(self, operation: Operation, fault: Fault, where: str) -> None:
        """The operation with one fault: no traceback, all agree, and it can be said again if it failed."""
        cluster = self.prepared(operation)
        cluster.network.fault = fault
        status, out, err = scene_of(cluster).run(operation.line.split())
        cluster.network.fault = None
        where = f"{operation.line}: {where}: {out}{err}"
        self.assertNotIn("Traceback", err, where)
        self.assertNotIn("internal error", err + out, where)
        cluster.pass_time(REST)
        self.check_outcome(operation, status == 0, where)
        cluster.end()

    def check_ended(
        self, operation: Operation, end: Callable[[InProcessCluster, int], None], turn: int = 0, one_of: int = ENDING
    ) -> None:
        """End the job when it has made some of its calls (see `some_of`), each in turn, as `kill`, `cancel` and `fill` do."""
        for number, name in some_of(self.calls_of_a_good_run(operation), turn, one_of):
            cluster = self.prepared(operation)
            job_id = self.begin(cluster, operation)
            self.until_called(cluster, job_id, number)
            end(cluster, job_id)
            cluster.pass_time(REST)
            job = self.job(job_id)
            where = f"{operation.line}: ended at call {number}, {name}: {job.ops[0].result} {job.ops[0].log}"
            self.assertTrue(job.finalized, where)
            self.assertNotIn("internal error", str(job.ops[0].result), where)
            self.check_outcome(operation, job.status.value == "success", where)
            cluster.end()

    def begin(self, cluster: InProcessCluster, operation: Operation) -> int:
        """Have the operation done, without waiting; the id of its job."""
        return scene_of(cluster).submit(operation.submitted())

    def fill(self, cluster: InProcessCluster, job_id: int) -> None:
        """The master's disk is full for a while."""
        disk = cluster.master.disk
        disk.fault = lambda step, path: error(errno.ENOSPC, path) if step in WRITES else None
        cluster.pass_time(FULL)
        disk.fault = None

    def check_outcome(self, operation: Operation, success: bool, where: str) -> None:
        """All agree, but for disks that are left with a warning; what failed succeeds when it is said again."""
        if success or not operation.partly:
            warned = success and LEFT in where
            faults = [fault for fault in self.faults(self.cluster) if not (warned and "is nobody's" in fault)]
            self.assertEqual(faults, [], where)
        if success or operation.done(self.cluster):
            return
        again = operation.again or operation.line
        status, out, err = self.scene().run(again.split())
        told = f"{where}\nthen {again}: {out}{err}"
        self.assertEqual(status, 0, told)
        self.assert_agreed(self.cluster, told)

    def until_called(self, cluster: InProcessCluster, job_id: int, number: int) -> None:
        """Let time pass until the job has made so many calls, and one more, or has ended."""
        begun, seen, made = cluster.time.seconds(), 0, 0
        for tick in count():
            sent = cluster.network.sent
            made, seen = made + sum(map(is_of_a_job, sent[seen:])), len(sent)
            if made > number or (tick % LOOKS == 0 and self.job(job_id).finalized):
                return
            self.assertLess(cluster.time.seconds() - begun, LIMIT)
            cluster.pass_time(TICK)

    def kill(self, cluster: InProcessCluster, job_id: int) -> None:
        """The job's process is killed."""
        process_id = self.job(job_id).process_id
        if not self.job(job_id).finalized and process_id in cluster.zygote.runners:
            cluster.zygote.kill(process_id)

    def cancel(self, cluster: InProcessCluster, job_id: int) -> None:
        """The operator stops the job."""
        self.scene().run(["gnt-job", "cancel", "--kill", "--yes-do-it", str(job_id)])


def walks(operations: Mapping[str, Operation], full: bool = True) -> Callable[[type[Case]], type[Case]]:
    """Give a class of tests the walks over each operation, as methods that end with its title.

    @param full: also those on which the master's disk is full, which cares little for what the disks are of.
    """

    def filled(case: type[Case]) -> type[Case]:
        for title, operation in operations.items():
            add_walks(case, title, operation, full)
        return case

    return filled


def add_walks(case: type[Case], title: str, operation: Operation, full: bool) -> None:
    """Those over one operation."""

    def test_troubles(self: Case) -> None:
        self.check_troubles(operation)

    def test_killed(self: Case) -> None:
        self.check_ended(operation, self.kill)

    def test_canceled(self: Case) -> None:
        self.check_ended(operation, self.cancel, one_of=USUAL)

    def test_full(self: Case) -> None:
        self.check_ended(operation, self.fill, 1, USUAL)

    for test, doc in (
        (test_troubles, "Every twelfth call goes wrong, the next ones in the next of the ways."),
        (test_killed, "The job's process is killed at every fourth call."),
        (test_canceled, "The job is stopped at every twelfth call."),
        (
            test_full,
            "The master's disk is full from every twelfth call on, and has room again when all has been tried.",
        ),
    ):
        test.__doc__ = doc
        if full or test is not test_full:
            setattr(case, f"{test.__name__}_{title}", test)


def is_of_a_job(sent: Sent) -> bool:
    """Whether a logical unit has made a call: no copy of a job file, and nothing that distributes."""
    copies = isinstance(sent.call, JobqueueUpdate) or sent.call.name in DISTRIBUTION
    return sent.caller.startswith("runner") and not copies


def nth(number: int, trouble: Trouble | Says) -> Fault:
    """Trouble for the n-th call that a job makes, from 0; the others go well."""
    seen = iter(range(1_000_000))

    def fault(node: str, call: NodeCall[object]) -> Trouble | Says | None:
        if isinstance(call, JobqueueUpdate) or call.name in DISTRIBUTION:
            return None
        return trouble if next(seen) == number else None

    return fault
