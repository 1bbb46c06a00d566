"""What a node takes in from its master, on a disk that fails at each of its steps."""

from itertools import count
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.service import UPLOADS
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.calls.queue import JobqueueSetDrainFlag, JobqueueUpdate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.inprocess.faulty_disk import STEPS_OF, FaultPlan, FaultyDisk

CONFIG = "/var/lib/ganeti/config.data"
OLD: list[NodeCall[object]] = [
    UploadFile(path=CONFIG, data=b'{"serial_no":1}', serial=1),
    WriteSsconfFiles(values={"cluster_name": "old", "node_list": "a"}),
    JobqueueUpdate(files=[("serial", "1\n"), ("job-1", "old")]),
    JobqueueSetDrainFlag(drained=False),
]
NEW: list[NodeCall[object]] = [
    UploadFile(path=CONFIG, data=b'{"serial_no":2}', serial=2),
    WriteSsconfFiles(values={"cluster_name": "new", "node_list": "a\nb", "networks": ""}),
    JobqueueUpdate(files=[("serial", "3\n"), ("job-1", "new"), ("job-2", "new"), ("job-3", "new")]),
    JobqueueSetDrainFlag(drained=True),
]


class Node:
    """A node that has the old state, with a disk that fails as planned."""

    def __init__(self, plan: FaultPlan | None = None) -> None:
        self.disk = FaultyDisk()
        self.paths = Paths(Path("/node"))
        self.disk.mkdir(self.paths.queue_dir)
        terms = Terms(self.disk, self.paths)
        copies = JobCopies(self.disk, self.paths, terms)
        files = ClusterFiles(self.disk, self.paths, UPLOADS, "node1.example.com", terms, copies)
        self.dispatch = NodeDispatch(files, copies)
        for call in OLD:
            assert self.do(call) is None
        self.disk.fault = plan

    def do(self, call: NodeCall[object]) -> BaseException | None:
        """What came of a call."""
        results: list[Any] = []
        Deferred.fromCoroutine(self.dispatch.perform(call)).addBoth(results.append)
        return getattr(results[0], "value", None)

    def content(self) -> dict[Path, bytes]:
        """What readers see."""
        left = self.disk.leftovers()
        return {path: data for path, (data, _mode) in self.disk.contents().items() if path not in left}


class FaultyNodeTests(SynchronousTestCase):
    """Every call, with every error at every step, once and lasting."""

    def test_old_or_new(self) -> None:
        """A call that fails says why and has changed nothing, or all; done again on a disk that is well, it succeeds."""
        tried = 0
        for call in NEW:
            well = Node()
            before = well.content()
            self.assertIsNone(well.do(call))
            after = well.content()
            for code in STEPS_OF:
                for lasting in (False, True):
                    for first in count(1):
                        plan = FaultPlan(code, first, lasting)
                        node = Node(plan)
                        failed = node.do(call)
                        if not plan.struck:
                            break
                        tried += 1
                        with self.subTest(call=call, plan=plan):
                            self.check(node, failed, before, after)
                            plan.lift()
                            self.assertIsNone(node.do(call))
                            self.assertEqual(node.content(), after)
        self.assertGreater(tried, 200)

    def check(
        self, node: Node, failed: BaseException | None, before: dict[Path, bytes], after: dict[Path, bytes]
    ) -> None:
        """The answer says what is so."""
        if failed is None:
            self.assertEqual(node.content(), after)
            return
        self.assertIsInstance(failed, GanetiError)
        text = str(failed)
        self.assertNotIn("internal error", text)
        if "could not be put back" in text:  # the names of those are in it
            wrong = {path for path, data in node.content().items() if before.get(path) != data}
            self.assertEqual([path.name for path in wrong if path.name not in text], [])
        else:
            self.assertIn(node.content(), (before, after))
