"""Counting votes: tables of cases, and rules that hold for any votes."""

import msgspec
from attrs import evolve as replace
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.election.votes import TERM_GAP, Claim, NoQuorum, Outcome, Purpose, Vote, count, refusal
from ganeti_tx.mastership.ballot import Ballot
from ganeti_tx.mastership.term import MasterTerm
from ganeti_tx.mastership.this_node import NotMasterError

CLAIM = Claim(name="node1", cluster_uuid="cluster", serial=10, job_serial=5)


def ballot(master: str | None = "node1", serial: int | None = 10, job: int = 5, ssconf: int = -1) -> Ballot:
    """A ballot of the cluster; a node without a configuration cannot tell which cluster it is in."""
    uuid = None if serial is None else "cluster"
    return Ballot(master=master, cluster_uuid=uuid, config_serial=serial, ssconf_serial=ssconf, job_serial=job)


YES = ballot()
BARE = ballot(serial=None, job=-1)
NODE2 = ballot(master="node2", serial=110)
SILENT = None


def votes(*ballots: Ballot | None) -> list[Vote]:
    """A vote each, from node2 on."""
    return [Vote(f"node{number}", each, "" if each else "no route") for number, each in enumerate(ballots, 2)]


class StartTests(SynchronousTestCase):
    """The daemons of the master start."""

    def outcome(self, *ballots: Ballot | None) -> Outcome:
        """What these ballots of the other nodes make of it."""
        return count(Purpose.START, CLAIM, votes(*ballots)).outcome

    def test_table(self) -> None:
        """Half of the nodes plus one must agree; the silent may yet."""
        for ballots, outcome in (
            ((), Outcome.WON),
            ((YES,), Outcome.WON),
            ((SILENT,), Outcome.OPEN),
            ((NODE2,), Outcome.LOST),
            ((YES, SILENT), Outcome.WON),
            ((YES, NODE2), Outcome.WON),
            ((NODE2, NODE2), Outcome.LOST),
            ((NODE2, SILENT), Outcome.OPEN),
            ((SILENT, SILENT), Outcome.OPEN),
            ((YES, SILENT, SILENT), Outcome.OPEN),
            ((YES, YES, SILENT), Outcome.WON),
            ((YES, NODE2, NODE2), Outcome.LOST),
            ((BARE, BARE), Outcome.WON),
            ((ballot(master=None), SILENT), Outcome.OPEN),
        ):
            self.assertIs(self.outcome(*ballots), outcome, ballots)

    def test_older_data_abstain(self) -> None:
        """Who has older copies than we, or none, agrees."""
        self.assertIs(self.outcome(ballot(serial=3, job=-1), ballot(serial=None, ssconf=2)), Outcome.WON)

    def test_newer_data_win(self) -> None:
        """One follower with a newer configuration or a later job is enough to stop us: it would be overwritten."""
        for newer in (ballot(serial=11), ballot(job=6), ballot(serial=None, ssconf=11)):
            self.assertIs(self.outcome(YES, YES, newer), Outcome.LOST)

    def test_before_the_first_job(self) -> None:
        """A node that has no file of the last job's id knows as much as one whose file says 0."""
        tally = count(
            Purpose.START,
            Claim(name="node1", cluster_uuid="cluster", serial=10, job_serial=-1),
            votes(ballot(job=0), ballot(job=0)),
        )
        self.assertIs(tally.outcome, Outcome.WON)

    def test_other_cluster(self) -> None:
        """A node of another cluster does not agree, whatever it has."""
        other = Ballot(master="node1", cluster_uuid="other", config_serial=99)
        tally = count(Purpose.START, CLAIM, votes(other, YES, YES))
        self.assertIs(tally.outcome, Outcome.WON)
        self.assertEqual(tally.against, ("node2 belongs to another cluster (other)",))

    def test_rejected(self) -> None:
        """A node that takes no calls from us has answered: no."""
        rejecting = [Vote(name, problem="no candidate", rejects=True) for name in ("node2", "node3")]
        self.assertIs(count(Purpose.START, CLAIM, rejecting).outcome, Outcome.LOST)


class FailoverTests(SynchronousTestCase):
    """A candidate takes over."""

    def test_table(self) -> None:
        """Who is the master does not matter, but nobody may have newer data."""
        node3 = ballot(master="node3")
        for ballots, outcome in (
            ((SILENT, node3), Outcome.WON),
            ((SILENT, SILENT), Outcome.OPEN),
            ((SILENT, ballot(master="node3", serial=11)), Outcome.LOST),
            ((node3, ballot(master="node3", serial=9, job=6)), Outcome.LOST),
            ((SILENT, ballot(master="node1", ssconf=500)), Outcome.WON),
            ((SILENT, ballot(master="node2", ssconf=500)), Outcome.LOST),
            ((ballot(master="node3"), ballot(master="node2", ssconf=500)), Outcome.WON),
            ((ballot(master="node2", serial=500), ballot(master="node2", ssconf=500)), Outcome.LOST),
            ((ballot(master="node3", ssconf=500), ballot(master="node2", ssconf=500)), Outcome.WON),
        ):
            self.assertIs(count(Purpose.FAILOVER, CLAIM, votes(*ballots)).outcome, outcome, ballots)

    def test_configuration_of_a_later_master(self) -> None:
        """What a later master wrote is newer, and what a former one wrote older, whatever the serial numbers say."""

        def written_in(term: int) -> MasterTerm:
            return MasterTerm(cluster="cluster", master="node9", number=term, config=term)

        claim = replace(CLAIM, term=written_in(5 + TERM_GAP))
        for term, serial, outcome in (
            (5, 9, Outcome.WON),
            (5 + 2 * TERM_GAP, 9, Outcome.LOST),
            (6 + TERM_GAP, 9, Outcome.WON),
            (6 + TERM_GAP, 11, Outcome.LOST),
        ):
            other = msgspec.structs.replace(ballot(master="node3", serial=serial), term=written_in(term))
            self.assertIs(count(Purpose.FAILOVER, claim, votes(SILENT, other)).outcome, outcome, (term, serial))

    def test_a_former_master_counted_on(self) -> None:
        """Neither its serial numbers nor its job ids are newer; those of a term that is not known may be."""
        claim = replace(
            CLAIM, term=MasterTerm(cluster="cluster", master="node9", number=5 + TERM_GAP, config=5 + TERM_GAP)
        )
        for config, ssconf, queue, cluster, newer in (
            (5, 5, 5, "cluster", False),
            (0, 5, 5, "cluster", True),
            (5, 0, 5, "cluster", True),
            (5, 5, 0, "cluster", True),
            (5, 5, 6, "cluster", True),
            (5, 5, 5, "another", True),
        ):
            term = MasterTerm(cluster=cluster, master="node2", number=5, config=config, ssconf=ssconf, queue=queue)
            other = msgspec.structs.replace(ballot(master="node2", serial=5000, job=99, ssconf=5000), term=term)
            tally = count(Purpose.FAILOVER, claim, votes(other, SILENT))
            self.assertEqual(bool(tally.newer), newer, term)
            self.assertEqual(tally.highest_job, 99 if queue != 5 or cluster != "cluster" else CLAIM.job_serial)


class WordsTests(SynchronousTestCase):
    """What the operator reads."""

    def text(self, purpose: Purpose, *ballots: Ballot | None) -> str:
        """The refusal, which is one line."""
        error = refusal(purpose, "node1", count(purpose, CLAIM, votes(*ballots)))
        self.assertEqual(len(str(error).splitlines()), 1)
        return str(error)

    def test_other_master(self) -> None:
        """Who disagrees is named, with the master that they follow."""
        text = self.text(Purpose.START, NODE2, NODE2)
        self.assertIn("node2 takes node2 as the master, node3 takes node2 as the master", text)
        self.assertIn("gnt-cluster master-failover", text)

    def test_newer(self) -> None:
        """The node with the newer data is named with both numbers."""
        text = self.text(Purpose.FAILOVER, YES, ballot(master="node9", serial=12))
        self.assertIn("node3 has configuration 12, this node only 10", text)
        self.assertIn(
            "node3 knows job 9, this node only 5", self.text(Purpose.FAILOVER, YES, ballot(master="node9", job=9))
        )

    def test_silence(self) -> None:
        """Who does not answer is named, and what is to be done."""
        error = refusal(Purpose.START, "node1", count(Purpose.START, CLAIM, votes(SILENT, SILENT)))
        self.assertIsInstance(error, NoQuorum)
        self.assertIn("only 1 of 3 nodes agree", str(error))
        self.assertIn("node2 (no route), node3 (no route)", str(error))
        self.assertIn("--no-voting --yes-do-it", str(error))

    def test_many(self) -> None:
        """With a thousand silent nodes the error is still a line that can be read."""
        self.assertLess(len(self.text(Purpose.START, *[SILENT] * 1000)), 600)

    def test_statuses(self) -> None:
        """Only a clear no keeps the supervisor from starting the daemon again."""
        lost = refusal(Purpose.START, "node1", count(Purpose.START, CLAIM, votes(NODE2, NODE2)))
        self.assertIsInstance(lost, NotMasterError)
        self.assertEqual(lost.exit_code, 11)
        self.assertEqual(NoQuorum("").exit_code, 1)


NUMBERS = st.integers(-1, 4)
BALLOTS = st.builds(
    Ballot,
    master=st.sampled_from([None, "node1", "node2", "node3"]),
    cluster_uuid=st.sampled_from([None, "cluster", "cluster", "other"]),
    config_serial=st.one_of(st.none(), NUMBERS),
    ssconf_serial=NUMBERS,
    job_serial=NUMBERS,
)
VOTES = st.lists(st.one_of(st.none(), BALLOTS), max_size=7).map(lambda ballots: votes(*ballots))


class RuleTests(SynchronousTestCase):
    """What holds for any votes."""

    @given(VOTES, st.sampled_from(Purpose))
    def test_everybody_is_counted_once(self, cast: list[Vote], purpose: Purpose) -> None:
        """Each node is in one of the four groups."""
        tally = count(purpose, CLAIM, cast)
        groups = (tally.agree, tally.against, tally.newer, tally.silent)
        self.assertEqual(sum(map(len, groups)), len(cast) + 1)
        self.assertGreater(2 * tally.needed, tally.all)

    @given(st.lists(BALLOTS, max_size=7), NUMBERS, NUMBERS)
    def test_never_two_masters(self, ballots: list[Ballot], first: int, second: int) -> None:
        """The same ballots never make two nodes the master, how new their own data may be."""
        cast = votes(*ballots)
        one = count(
            Purpose.START,
            Claim(name="node1", cluster_uuid="cluster", serial=first, job_serial=first),
            [*cast, Vote("b", ballot(master="node2"))],
        )
        two = count(
            Purpose.START,
            Claim(name="node2", cluster_uuid="cluster", serial=second, job_serial=second),
            [*cast, Vote("a", ballot(master="node1"))],
        )
        self.assertFalse(one.outcome is Outcome.WON and two.outcome is Outcome.WON)

    @given(VOTES, st.data())
    def test_answers_settle(self, cast: list[Vote], data: st.DataObject) -> None:
        """What is won or lost stays so for a tally's silent nodes that answer later, unless one has newer data."""
        before = count(Purpose.START, CLAIM, cast).outcome
        later = [vote if vote.ballot else Vote(vote.node, data.draw(BALLOTS)) for vote in cast]
        after = count(Purpose.START, CLAIM, later)
        if before is Outcome.LOST:
            self.assertIs(after.outcome, Outcome.LOST)
        if before is Outcome.WON and not after.newer:
            self.assertIs(after.outcome, Outcome.WON)
        self.assertIsNot(after.outcome, Outcome.OPEN)
