"""Whom a node takes configuration, simple configuration and jobs from."""

import errno

from msgspec.structs import replace
from twisted.internet.defer import Deferred, succeed
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import GenericError
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.master_guard import MasterGuard
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.administration import NodePowercycle
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.cluster import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.calls.master import MasterVote
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.rpc.refusals import AnotherIsMaster, NoStamp, UnknownCaller
from ganeti_tx.test.election.nodes import PATHS, SERIAL, ThreeNodes, three_nodes
from ganeti_tx.test.fakes.files import error

JOB = JobqueueUpdate(files=[("job-1", "{}")])


def config_of(master: str, serial: int) -> ConfigData:
    """A configuration with this master."""
    config = three_nodes()
    return replace(config, serial_no=serial, cluster=replace(config.cluster, master_node=f"uuid-{master}"))


def upload(master: str, serial: int) -> UploadFile:
    """The configuration sent."""
    return UploadFile(path=str(PATHS.config_file), data=encode(config_of(master, serial)), serial=serial)


def ssconf(master: str, serial: int) -> WriteSsconfFiles:
    """Simple configuration sent."""
    return WriteSsconfFiles(values=ssconf_values(config_of(master, serial)), serial=serial)


def stamped(call: NodeCall[object], master: str, term: int) -> NodeCall[object]:
    """The call in a term of a master."""
    return replace(call, stamp=Stamp(cluster=three_nodes().cluster.uuid, master=master, term=term))


class MasterGuardTests(SynchronousTestCase):
    """node3, which follows node1."""

    def setUp(self) -> None:
        """It has node1's files."""
        self.cluster = ThreeNodes()
        self.node = self.cluster.nodes["node3"]

    def send(self, caller: str, call: NodeCall[object], term: int = 1) -> None:
        """A call that is taken, with its own stamp or one of the caller's."""
        call = call if call.stamp is not None else stamped(call, caller, term)
        self.cluster.finish(self.cluster.rpc(caller).call(three_nodes().nodes["uuid-node3"], call))

    def refused(self, caller: str, call: NodeCall[object]) -> None:
        """A call that is not, with an error that the caller understands."""
        with self.assertRaises(NodeCallError) as caught:
            self.send(caller, call)
        self.assertIsInstance(caught.exception.cause, AnotherIsMaster)

    def test_master(self) -> None:
        """Its master may send everything."""
        for call in (JOB, upload("node1", SERIAL + 1), ssconf("node1", SERIAL + 1)):
            self.send("node1", call)

    def test_another(self) -> None:
        """Another candidate may send nothing of it, but may ask."""
        for call in (JOB, upload("node1", SERIAL + 5), ssconf("node1", SERIAL + 5), ssconf("node3", SERIAL + 5)):
            self.refused("node2", call)
        self.send("node2", MasterVote())

    def test_old_claims(self) -> None:
        """A claim that is not newer than what is here is refused."""
        for serial in (SERIAL - 1, SERIAL):
            self.refused("node2", upload("node2", serial))
            self.refused("node2", ssconf("node2", serial))

    def test_new_master(self) -> None:
        """A newer claim is followed, by either way that it comes first; from then on the old master is refused."""
        for number, first in enumerate((upload, ssconf), 1):
            serial = SERIAL + 100 * number
            new, old = ("node2", "node1") if number == 1 else ("node1", "node2")
            self.send(new, first(new, serial), number)
            for call in (upload(new, serial), JOB, ssconf(new, serial)):
                self.send(new, call, number)
            self.assertEqual(self.node.master, new)
            for call in (JOB, upload(old, serial - 50), ssconf(old, serial - 50)):
                self.refused(old, call)

    def test_stops_master_daemons(self) -> None:
        """A master whose node follows another one runs no more."""
        self.node.have(config_of("node3", SERIAL + 1))
        self.node.running = True
        self.refused("node2", JOB)
        self.assertTrue(self.node.running)
        self.send("node2", ssconf("node2", SERIAL + 2))
        self.assertFalse(self.node.running)

    def test_at_once(self) -> None:
        """Of two claims that arrive together one is refused."""
        begun: list[Deferred[None]] = []

        async def write(call: NodeCall[object]) -> None:
            begun.append(Deferred())
            await begun[-1]
            terms = Terms(self.node.files, PATHS)
            queue = JobCopies(self.node.files, PATHS, terms)
            files = ClusterFiles(self.node.files, PATHS, {}, "node3", terms, queue)
            await files.write_ssconf(ssconf("node2", SERIAL + 5))

        follows = MasterGuard(self.node.files, PATHS, "node3", Terms(self.node.files, PATHS), lambda: succeed(None))
        first = Deferred.fromCoroutine(
            follows.perform(stamped(ssconf("node2", SERIAL + 5), "node2", 1), "node2", write)
        )
        second = Deferred.fromCoroutine(
            follows.perform(stamped(ssconf("node3", SERIAL + 5), "node3", 1), "node3", write)
        )
        self.assertEqual(len(begun), 1)
        begun[0].callback(None)
        self.successResultOf(first)
        self.failureResultOf(second, GenericError)

    def test_terms_decide(self) -> None:
        """A higher term is followed with any serial number, and no serial number makes up for a lower term."""
        self.node.have(config_of("node3", SERIAL))
        self.node.running = True
        self.send("node3", stamped(ssconf("node3", SERIAL), "node3", 5))
        self.node.have(config_of("node3", SERIAL + 5000))  # it was cut off, and counted on
        for call in (ssconf("node2", SERIAL + 9000), upload("node2", SERIAL + 9000)):
            for term in (4, 5):
                self.refused("node2", stamped(call, "node2", term))
            self.refused("node2", call)
        self.refused("node2", stamped(JOB, "node2", 6))
        self.assertTrue(self.node.running)
        self.send("node2", stamped(ssconf("node2", SERIAL + 1000), "node2", 6))
        self.assertFalse(self.node.running)
        self.send("node2", stamped(upload("node2", SERIAL + 1000), "node2", 6))
        self.assertEqual((self.node.master, self.node.config.serial_no), ("node2", SERIAL + 1000))
        late: tuple[NodeCall[object], ...] = (ssconf("node1", SERIAL + 9000), upload("node1", SERIAL + 9000), JOB)
        for each in late:
            self.refused("node1", stamped(each, "node1", 5))

    def test_broken_disk(self) -> None:
        """A disk that fails does not keep the master of before from a reset, and lets nobody do anything else.

        Who is not known from before, has been the master, or is of another cluster, resets nothing, in whatever term.
        """
        done: list[str] = []

        async def method(call: NodeCall[object]) -> None:
            done.append(f"{call.name} of {call.stamp.master if call.stamp else None}")

        def perform(call: NodeCall[object], caller: str, term: int) -> Deferred[object]:
            return Deferred.fromCoroutine(guard.perform(stamped(call, caller, term), caller, method))

        guard = MasterGuard(self.node.files, PATHS, "node3", Terms(self.node.files, PATHS), lambda: succeed(None))
        self.node.files.fault = lambda _operation, path: error(errno.EIO, path)
        self.failureResultOf(perform(NodePowercycle(), "node1", 5), OSError)
        self.node.files.fault = None
        self.successResultOf(perform(JOB, "node1", 5))
        self.node.files.fault = lambda _operation, path: error(errno.EIO, path)
        self.failureResultOf(perform(JOB, "node1", 5), OSError)
        for master, term in (("node2", 5), ("node2", 6), ("node2", 2**40), ("node1", 4)):
            self.failureResultOf(perform(NodePowercycle(), master, term), OSError)
        strange = replace(NodePowercycle(), stamp=Stamp(cluster="another", master="node1", term=5))
        self.failureResultOf(Deferred.fromCoroutine(guard.perform(strange, "node1", method)), OSError)
        self.successResultOf(perform(NodePowercycle(), "node1", 5))
        self.successResultOf(perform(NodePowercycle(), "node1", 7))
        self.assertEqual(done, [f"{JOB.name} of node1"] + ["node_powercycle of node1"] * 2)

    def test_spoiled(self) -> None:
        """Simple configuration that somebody spoiled is mended by the master, which its term makes known."""
        self.send("node1", stamped(ssconf("node1", SERIAL), "node1", 5))
        self.node.put(PATHS.ssconf_file("master_node"), b"junk")
        self.refused("node2", stamped(JOB, "node2", 5))
        for call in (JOB, ssconf("node1", SERIAL)):
            self.send("node1", stamped(call, "node1", 5))
        self.assertEqual(self.node.master, "node1")

    def test_lost(self) -> None:
        """Where simple configuration is lost, the term tells who is the master."""
        self.send("node1", stamped(ssconf("node1", SERIAL), "node1", 5))
        self.node.files.remove(PATHS.ssconf_file("master_node"))
        for term in (4, 5, 6):
            self.refused("node2", stamped(JOB, "node2", term))
        self.send("node1", stamped(JOB, "node1", 5))
        self.send("node2", stamped(ssconf("node2", SERIAL), "node2", 6))
        self.assertEqual(self.node.master, "node2")

    def test_knows_nobody(self) -> None:
        """A node that has neither takes what comes from any candidate, which is the first master that it hears of."""
        self.node.files.remove(PATHS.ssconf_file("master_node"))
        self.send("node2", stamped(JOB, "node2", 3))
        self.refused("node1", stamped(JOB, "node1", 2))

    def test_stamp_of_another(self) -> None:
        """Who sends is told by the certificate; a stamp of somebody else, or none, is refused, and a caller without a name."""
        of_node1 = stamped(JOB, "node1", 5)
        for call, caller in ((of_node1, "node2"), (of_node1, None), (JOB, "node1")):
            with self.assertRaisesRegex(NoStamp if call is JOB else UnknownCaller, "refused"):
                self.cluster.finish(self.node.dispatch.perform(call, caller))
        self.cluster.finish(self.node.dispatch.perform(MasterVote()))

    def test_claims_to_be_another(self) -> None:
        """The serial number of a claim is the configuration's own."""
        lie = replace(upload("node2", SERIAL - 5), serial=SERIAL + 5)
        self.refused("node2", lie)
