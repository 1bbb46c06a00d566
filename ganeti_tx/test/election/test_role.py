"""Taking the master role over nodes that answer as they are told."""

from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.election.master_rpc import MasterRpc
from ganeti_tx.election.role import BROKEN_OFF_AFTER, INTERVAL, MasterRole
from ganeti_tx.election.votes import TERM_GAP, NoQuorum
from ganeti_tx.election.voting import Voting, timeout, voting_of
from ganeti_tx.errors import ConfigurationError, OpPrereqError
from ganeti_tx.mastership.ballot import Ballot, own_ballot
from ganeti_tx.mastership.term import MasterTerm, read_term
from ganeti_tx.mastership.this_node import NotMasterError
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.rpc.calls.master import MasterVote
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError, RpcError
from ganeti_tx.rpc.refusals import AnotherIsMaster, NotCandidate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model import samples

PATHS = Paths()


def three_nodes(offline: tuple[str, ...] = ()) -> ConfigData:
    """A configuration with node1, the master, node2 and node3."""
    master = samples.CONFIG.nodes[samples.CONFIG.cluster.master_node]
    nodes = [
        replace(master, name=f"node{number}", uuid=f"uuid{number}", offline=f"node{number}" in offline)
        for number in (1, 2, 3)
    ]
    cluster = replace(samples.CONFIG.cluster, master_node="uuid1")
    return replace(
        samples.CONFIG,
        serial_no=10,
        cluster=cluster,
        nodes={node.uuid: node for node in nodes},
        instances={},
        disks={},
    )


class RoleCase(SynchronousTestCase):
    """node1, whose files make it the master; `ballots` has what the others answer."""

    def setUp(self) -> None:
        """All agree."""
        self.files = MemoryFiles()
        for directory in (PATHS.data_dir, PATHS.queue_dir, PATHS.run_dir):
            self.files.mkdir(directory)
        self.clock = Clock()
        self.now = 0.0
        self.rpc = FakeNodeRpc()
        self.rpc.answers[MasterVote] = self.answer
        self.cluster_uuid = samples.CONFIG.cluster.uuid
        self.ballots: dict[str, Ballot | RpcError] = {"node2": self.ballot(), "node3": self.ballot()}
        self.errors: list[Exception] = []
        self.have(three_nodes())
        self.role = MasterRole(
            self.files, PATHS, "node1", self.clock, lambda: self.now, lambda: self.rpc, self.errors.append
        )

    def have(self, config: ConfigData) -> None:
        """Put a configuration and what follows from it on the disk."""
        self.put(PATHS.config_file, encode(config))
        self.put(PATHS.ssconf_file("master_node"), ssconf_values(config)["master_node"].encode())

    def put(self, path: Any, data: bytes) -> None:
        """Write a file."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data, 0o640)))

    def ballot(self, master: str = "node1", serial: int = 10, job: int = -1) -> Ballot:
        """A ballot of this cluster."""
        return Ballot(master=master, cluster_uuid=self.cluster_uuid, config_serial=serial, job_serial=job)

    def answer(self, node: str, call: MasterVote) -> Ballot:
        """What a node says."""
        found = self.ballots[node]
        if isinstance(found, RpcError):
            raise found
        return found

    def unreachable(self, *nodes: str) -> None:
        """These do not answer."""
        for node in nodes:
            text = f"cannot reach node {node} (192.0.2.9) for master_vote: no route"
            self.ballots[node] = NodeUnreachableError(text, "no route")

    def take(self, voting: Voting | None = None, lead: bool = True) -> "Deferred[ConfigData]":
        """Take the role."""
        return Deferred.fromCoroutine(self.role.take(voting or Voting(), lead))

    def asked(self) -> list[str]:
        """Who was asked, in order."""
        return [node for node, _ in self.rpc.sent]


class TakeTests(RoleCase):
    """MasterRole.take."""

    def test_all_agree(self) -> None:
        """The role is taken after one question to each other node."""
        self.assertEqual(self.successResultOf(self.take()).serial_no, 10)
        self.assertEqual(self.asked(), ["node2", "node3"])

    def test_alone(self) -> None:
        """Where all others are offline nobody is asked."""
        self.have(three_nodes(offline=("node2", "node3")))
        self.successResultOf(self.take())
        self.assertEqual(self.asked(), [])

    def test_offline_is_not_asked(self) -> None:
        """Two nodes that are not offline need both; the third is not sent a packet."""
        self.have(three_nodes(offline=("node3",)))
        self.successResultOf(self.take())
        self.assertEqual(self.asked(), ["node2"])

    def test_others_know_another_master(self) -> None:
        """A quorum that follows another node stops us at once."""
        self.ballots = {name: self.ballot("node2", 1010) for name in self.ballots}
        text = str(self.failureResultOf(self.take(), NotMasterError).value)
        self.assertIn("node2 takes node2 as the master", text)

    def test_power_up(self) -> None:
        """Nodes that do not answer yet are asked again, the others are not."""
        self.have(three_nodes())
        self.unreachable("node2", "node3")
        taking = self.take()
        self.assertNoResult(taking)
        self.clock.advance(1)
        self.assertNoResult(taking)
        self.ballots["node3"] = self.ballot()
        self.clock.advance(2)
        self.successResultOf(taking)
        self.assertEqual(self.asked(), ["node2", "node3"] * 3)

    def test_patience_ends(self) -> None:
        """After the time given the daemon gives up, naming who is silent and why."""
        self.unreachable("node2", "node3")
        taking = self.take(Voting(timeout=5))
        self.clock.pump([1.0] * 6)
        text = str(self.failureResultOf(taking, NoQuorum).value)
        self.assertIn("node2 (no route), node3 (no route)", text)

    def test_what_is_waited_for(self) -> None:
        """While answers are missing, and when that was in vain, a file says so for the commands; a master that is up has none."""
        self.unreachable("node2", "node3")
        self.ballots["node3"] = NodeUnreachableError("no route")
        taken = self.take(Voting(timeout=5.0))
        told = self.files.read(PATHS.master_waits_file, 4096).decode()
        self.assertIn("only 1 of 3 nodes agree that node1 is the master", told)
        self.assertIn("'gnt-cluster master-failover --no-voting --yes-do-it' here", told)
        self.clock.pump([1.0] * 10)
        self.failureResultOf(taken, NoQuorum)
        self.assertEqual(self.files.read(PATHS.master_waits_file, 4096).decode(), told)
        self.ballots["node2"] = self.ballot()
        self.successResultOf(self.take())
        self.assertFalse(self.files.exists(PATHS.master_waits_file))
        self.put(PATHS.master_waits_file, b"of former days")
        self.ballots = dict.fromkeys(self.ballots, self.ballot("node2", serial=11))
        self.failureResultOf(self.take(), NotMasterError)
        self.assertFalse(self.files.exists(PATHS.master_waits_file))

    def test_no_longer_candidate(self) -> None:
        """Nodes that refuse our certificate have answered."""
        for name in self.ballots:
            text = (
                f"node {name} refused master_vote with HTTP status 403: only master candidates of this cluster may call"
            )
            self.ballots[name] = NodeCallError(text, NotCandidate(text))
        self.assertIn("no candidate", str(self.failureResultOf(self.take(), NotMasterError).value))
        text = str(self.failureResultOf(self.take(Voting(vote=False)), NotMasterError).value)
        self.assertIn("not even without a vote: node2, node3 take no calls", text)

    def test_own_files(self) -> None:
        """A node whose own ssconf or configuration names another master asks nobody."""
        self.put(PATHS.ssconf_file("master_node"), b"node2")
        self.failureResultOf(self.take(), NotMasterError)
        self.files.remove(PATHS.ssconf_file("master_node"))
        self.files.remove(PATHS.config_file)
        self.failureResultOf(self.take(), ConfigurationError)
        self.assertEqual(self.asked(), [])

    def test_without_votes(self) -> None:
        """Without voting this node is right: its data become newer than anybody's, so that all take them."""
        self.ballots = {"node2": self.ballot("node2", 1010, 77), "node3": self.ballot("node2", 900)}
        config = self.successResultOf(self.take(Voting(vote=False)))
        self.assertEqual(config.serial_no, 1011)
        self.assertEqual(decode(self.files.read(PATHS.config_file, 1 << 20)), config)
        self.assertEqual(own_ballot(self.files, PATHS).job_serial, 77)

    def test_minority(self) -> None:
        """A minority that was claimed by a failover which did not come to its end is won back."""
        self.ballots["node3"] = replace(self.ballot("node2"), ssconf_serial=1010)
        self.assertEqual(self.successResultOf(self.take()).serial_no, 1011)

    def test_busy_master(self) -> None:
        """What another daemon of this master changes while the others are asked is no newer than what is here by then."""

        def answer(node: str, call: MasterVote) -> Ballot:
            self.put(PATHS.queue_serial_file, b"5\n")
            self.have(replace(three_nodes(), serial_no=20))
            return self.ballot(serial=20, job=5)

        self.rpc.answers[MasterVote] = answer
        self.successResultOf(self.take(lead=False))

    def test_term(self) -> None:
        """A master begins with a term above that of every other master of this cluster that somebody has heard of."""
        for master, number, wanted in (("node2", 50, 50 + TERM_GAP), ("node1", 2000, 2000), ("node3", 40, 2000)):
            term = MasterTerm(cluster=self.cluster_uuid, master=master, number=number)
            foreign = MasterTerm(cluster="other", master="node9", number=999)
            self.ballots = {"node2": replace(self.ballot(), term=term), "node3": replace(self.ballot(), term=foreign)}
            self.successResultOf(self.take())
            held = read_term(self.files, PATHS)
            assert held is not None
            self.assertEqual((held.master, held.number), ("node1", wanted))

    def test_first_term(self) -> None:
        """Where nobody has heard of a term it begins with the time of the day, not with what the reactor measures by."""
        self.now = 1_700_000_000.0
        self.successResultOf(self.take())
        held = read_term(self.files, PATHS)
        assert held is not None
        self.assertEqual(held.number, 1_700_000_000)

    def test_a_claim_of_the_same_age(self) -> None:
        """A node that follows another candidate by a claim that is as new as ours is given something newer."""
        rival = replace(self.ballot("node3", serial=9), ssconf_serial=10)
        self.ballots = {"node2": self.ballot(), "node3": rival}
        self.assertEqual(self.successResultOf(self.take()).serial_no, 11)

    def test_luxid_writes_nothing(self) -> None:
        """A daemon that does not own the configuration leaves it alone."""
        self.ballots["node3"] = replace(self.ballot("node2"), ssconf_serial=1010)
        self.assertEqual(self.successResultOf(self.take(lead=False)).serial_no, 10)


class LossTests(RoleCase):
    """The role is lost while the daemon runs."""

    def test_own_ssconf(self) -> None:
        """Another master that has written this node's ssconf ends the daemon, once."""
        self.role.watch()
        self.clock.advance(INTERVAL)
        self.assertEqual(self.errors, [])
        self.put(PATHS.ssconf_file("master_node"), b"node2\n")
        self.clock.pump([INTERVAL] * 3)
        self.assertEqual(len(self.errors), 1)
        self.assertIn("node2 is", str(self.errors[0]))

    def refuse(self) -> None:
        """Send something that node3 refuses."""
        self.rpc.fail(JobqueueUpdate, AnotherIsMaster("this node follows another master, node2"))
        node = three_nodes().nodes["uuid3"]
        call = MasterRpc(self.rpc, self.role.refused).call(node, JobqueueUpdate(files=[]))
        self.failureResultOf(Deferred.fromCoroutine(call), NodeCallError)

    def test_refused_and_voted_out(self) -> None:
        """A refusal makes us ask the others; when they follow somebody else, we step down."""
        self.ballots = {name: self.ballot("node2", 1010) for name in self.ballots}
        self.refuse()
        self.assertEqual(len(self.errors), 1)

    def test_refused_by_few(self) -> None:
        """A quorum that still follows us keeps us, and the log says how to win the others back."""
        self.ballots["node3"] = self.ballot("node2", 1010)
        with capturedLogs() as events:
            self.refuse()
        self.assertEqual(self.errors, [])
        self.assertIn("node3 will be won back", formatEvent(events[-1]))

    def test_refused_by_the_past(self) -> None:
        """A node that was away, and follows a master of long ago, ends nobody."""
        self.ballots["node3"] = self.ballot("node2", 9)
        self.unreachable("node2")
        self.refuse()
        self.assertEqual(self.errors, [])

    def test_refused_for_a_later_term(self) -> None:
        """Who counted on alone steps down too: the term tells who is the later master, not the serial number."""
        self.successResultOf(self.take())
        held = read_term(self.files, PATHS)
        assert held is not None
        for number, lost in ((held.number - 1, 0), (held.number + TERM_GAP, 1)):
            later = MasterTerm(cluster=self.cluster_uuid, master="node2", number=number)
            self.ballots = {name: replace(self.ballot("node2", 5), term=later) for name in self.ballots}
            self.refuse()
            self.assertEqual(len(self.errors), lost)

    def test_refused_for_the_same_term(self) -> None:
        """So does one whose term another has claimed at the same time, and has most nodes with it."""
        self.successResultOf(self.take())
        held = read_term(self.files, PATHS)
        assert held is not None
        same = MasterTerm(cluster=self.cluster_uuid, master="node2", number=held.number)
        self.ballots = {name: replace(self.ballot("node2", 5), term=same) for name in self.ballots}
        self.refuse()
        self.assertEqual(len(self.errors), 1)

    def test_won_back(self) -> None:
        """A later term wins back who took a claim that was broken off; nothing is done while that may go on."""
        risen: list[int] = []
        self.successResultOf(self.take())
        self.role.when_risen(lambda: risen.append(self.term))
        self.role.watch()
        later = MasterTerm(cluster=self.cluster_uuid, master="node3", number=self.term + TERM_GAP)
        self.ballots["node3"] = replace(self.ballot("node3", 10), ssconf_serial=1010, term=later)
        self.refuse()
        self.refuse()
        self.clock.pump([INTERVAL] * int(BROKEN_OFF_AFTER / INTERVAL - 1))
        self.assertEqual(risen, [])
        self.clock.pump([INTERVAL] * 2)
        self.assertEqual(risen, [later.number + TERM_GAP])
        self.clock.pump([BROKEN_OFF_AFTER] * 2)
        self.assertEqual((len(risen), self.errors), (1, []))

    def test_got_through_meanwhile(self) -> None:
        """A claim that has got through after all is left as it is."""
        self.successResultOf(self.take())
        self.role.watch()
        before = self.term
        later = MasterTerm(cluster=self.cluster_uuid, master="node3", number=before + TERM_GAP)
        self.ballots["node3"] = replace(self.ballot("node3", 10), ssconf_serial=1010, term=later)
        self.refuse()
        self.ballots["node2"] = self.ballots["node3"]
        self.clock.pump([INTERVAL] * int(BROKEN_OFF_AFTER / INTERVAL + 2))
        self.assertEqual(self.term, before)

    def test_stopped_while_it_waits(self) -> None:
        """A daemon that ends wins nobody back."""
        self.successResultOf(self.take())
        self.ballots["node3"] = self.ballot("node2", 1010)
        self.refuse()
        self.role.stop()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    @property
    def term(self) -> int:
        """The term that is kept."""
        held = read_term(self.files, PATHS)
        return 0 if held is None else held.number

    def test_cut_off(self) -> None:
        """One refusal and silence: the quorum is lost to whom we know of, so we step down."""
        self.ballots["node3"] = self.ballot("node2", 1010)
        self.unreachable("node2")
        self.refuse()
        self.assertEqual(len(self.errors), 1)


class VotingTests(RoleCase):
    """The daemons' options."""

    def options(self, **given: Any) -> dict[str, Any]:
        """Options as twistd parses them."""
        return {"no-voting": 0, "yes-do-it": 0, "voting-timeout": 7.0, **given}

    def test_both_words(self) -> None:
        """--no-voting alone is refused."""
        with self.assertRaises(OpPrereqError):
            voting_of(self.options(**{"no-voting": 1}), self.files, PATHS)
        voting = voting_of(self.options(**{"no-voting": 1, "yes-do-it": 1}), self.files, PATHS)
        self.assertEqual(voting, Voting(False, 7.0))

    def test_spared(self) -> None:
        """The start that a failover without votes makes does not vote either."""
        self.assertTrue(voting_of(self.options(), self.files, PATHS).vote)
        self.put(PATHS.no_voting_file, b"")
        self.assertFalse(voting_of(self.options(), self.files, PATHS).vote)

    def test_timeout(self) -> None:
        """The time is a number of seconds up to a day."""
        self.assertEqual(timeout("0"), 0)
        for wrong in ("x", "-1", "1e9", "nan"):
            with self.assertRaises(ValueError):
                timeout(wrong)
