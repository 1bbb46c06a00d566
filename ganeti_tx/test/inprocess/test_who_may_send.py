"""Who may send which call: the whole table, through the dispatch of real node daemons, on a cluster whose master changed."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import msgpack
from msgspec.structs import replace

from ganeti_tx.errors import GanetiError
from ganeti_tx.mastership.term import MasterTerm, read_term
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.rpc.calls.base import NodeCall, Question, Sender
from ganeti_tx.rpc.calls.cluster import WriteRapiFiles
from ganeti_tx.rpc.calls.node import NodeLeaveCluster, Version
from ganeti_tx.rpc.refusals import AnotherIsMaster, CallRefused, NoStamp, NotCandidate, UnknownCaller
from ganeti_tx.rpc.table import CALLS
from ganeti_tx.rpc.wire import decode_failure, encode_call
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.test.inprocess.failover_case import FailoverCase
from ganeti_tx.test.inprocess.network import perform
from ganeti_tx.test.node.test_cluster_membership import Connection
from ganeti_tx.test.rpc.sample_calls import sample

#: The calls that act on a node and yet may come from any candidate; their classes say why.
EXCEPTIONS = {"node_deactivate_master_ip", "node_start_master_daemons", "node_stop_master"}
ACTING = [kind for kind in CALLS.values() if kind.sender is Sender.MASTER]


class WhoMaySendTests(FailoverCase):
    """node2 is the master after node1; node3, a candidate, is called. node4 was in the cluster and was removed."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-node add node4")
        path = self.cluster.paths.client_pem
        bundles = {number: self.cluster.node(number).disk.read(path, 1 << 16) for number in (1, 2, 3, 4)}
        self.keys = {number: Identity.from_bundle(bundle, str(path)) for number, bundle in bundles.items()}
        self.ok("gnt-node remove node4")
        self.fail_over(2)
        self.cluster.pass_time(60)

    @property
    def term(self) -> MasterTerm:
        """The present term."""
        term = read_term(self.cluster.node(3).disk, self.cluster.paths)
        assert term is not None
        return term

    def stamp(self, number: int, term: int, sequence: int = 1 << 62) -> Stamp:
        """What a node shows."""
        return Stamp(cluster=self.term.cluster, master=self.cluster.node(number).name, term=term, sequence=sequence)

    def send(self, caller: int, call: NodeCall[object]) -> GanetiError | None:
        """What becomes of a call to node3: first its caller's certificate counts, then what the call is."""
        callers = AdmittedCallers(self.cluster.node(3).disk, self.cluster.paths)
        if not callers.admitted(Connection(self.keys[caller])):
            return NotCandidate()
        dispatch = self.cluster.network.daemons[self.cluster.node(3).address].dispatch
        answer = perform(dispatch, call.name, encode_call(call), self.cluster.node(caller).name)
        success, payload = msgpack.decode(self.cluster.run(answer))
        return None if success else decode_failure(payload)

    def disk(self) -> dict[Path, tuple[bytes, int]]:
        """All that node3 has."""
        return self.cluster.node(3).disk.contents()

    def refused(self, caller: int, stamps: Iterable[Stamp | None]) -> None:
        """No acting call is taken from a node, and nothing is done."""
        before, running, stamps = self.disk(), self.cluster.running(), list(stamps)
        for kind in ACTING:
            for stamp in stamps:
                if kind is WriteRapiFiles and stamp is not None and stamp.term > self.term.number:
                    continue  # so a new master begins where it was not heard yet
                error = self.send(caller, replace(sample(kind), stamp=stamp))
                self.assertIsInstance(
                    error, AnotherIsMaster | NoStamp | UnknownCaller, f"{kind.name}, {caller}, {stamp}"
                )
        self.assertEqual((self.disk(), self.cluster.running()), (before, running))

    def test_exceptions(self) -> None:
        """What may come from others than the master changes nothing, or is listed here."""
        others = {kind for kind in CALLS.values() if kind.sender is not Sender.MASTER}
        self.assertEqual({kind.name for kind in others if not issubclass(kind, Question)}, EXCEPTIONS)
        self.assertGreater(len(ACTING), 20)

    def test_former_master(self) -> None:
        """One that was the master and is a candidate is refused, with its own term, and with one that it makes up."""
        former = self.term.number - 1000
        self.refused(1, [self.stamp(1, term) for term in (former, self.term.number, self.term.number + 1)])

    def test_candidate(self) -> None:
        """So is any other, this node itself too, and one that shows the master's stamp, or none."""
        for caller in (1, 3):
            own = [self.stamp(caller, term) for term in (0, self.term.number, self.term.number + 1)]
            self.refused(caller, [None, self.stamp(2, self.term.number), *own])

    def test_removed(self) -> None:
        """A node that is not in the cluster any more, whose keys somebody may have kept, cannot even ask."""
        for kind in CALLS.values():
            self.assertIsInstance(self.send(4, sample(kind)), NotCandidate, kind.name)
        self.assertNotIsInstance(self.send(1, Version()), NotCandidate)

    def test_without_stamp(self) -> None:
        """The master itself shows its stamp; that of a former term of its own is none."""
        self.refused(2, [None, self.stamp(2, self.term.number - 1)])

    def test_master(self) -> None:
        """The master is refused nothing for who it is."""
        for number, kind in enumerate(ACTING):
            if kind is not NodeLeaveCluster:
                error = self.send(2, replace(sample(kind), stamp=self.stamp(2, self.term.number, (1 << 62) + number)))
                self.assertFalse(isinstance(error, CallRefused), f"{kind.name}: {error}")

    def test_questions(self) -> None:
        """A question leaves the node as it was."""
        before, running = self.disk(), self.cluster.running()
        for kind in CALLS.values():
            if issubclass(kind, Question):
                error = self.send(1, sample(kind))
                self.assertFalse(isinstance(error, CallRefused), f"{kind.name}: {error}")
        self.assertEqual((self.disk(), self.cluster.running()), (before, running))
