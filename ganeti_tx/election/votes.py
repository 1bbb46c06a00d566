"""Counting votes: may this node be the master? (design-2.0, Master startup/failover) Pure; no node is asked here."""

from collections.abc import Iterable, Sequence
from enum import Enum

import attrs

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.mastership.ballot import Ballot
from ganeti_tx.mastership.term import Copy, MasterTerm
from ganeti_tx.mastership.this_node import NotMasterError
from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.daemon_names import NODE

#: So many nodes an error names before it says "and N more".
NAMED = 5
#: By so much the term rises with another master: one that is cut off goes on counting its own, one with each boot.
TERM_GAP = 1000
#: What makes a node the master without votes, also the one that is it already and waits for them.
WITHOUT_VOTES = "gnt-cluster master-failover --no-voting --yes-do-it"


class NoQuorum(ConfigurationError):
    """Too few nodes have answered to tell."""


class Purpose(Enum):
    """What a vote is about."""

    START = "the node is the master already and its daemons start"
    FAILOVER = "the node is to become the master"


class Outcome(Enum):
    """What the votes so far make of it."""

    WON = "at least half of the nodes plus one agree"
    LOST = "whatever the silent nodes say, this node must not be the master"
    OPEN = "the silent nodes decide"


@attrs.frozen(kw_only=True)
class Claim:
    """What this node has: the name it goes by, and how new its data are."""

    name: str
    cluster_uuid: str
    serial: int
    job_serial: int
    #: The latest term that it has heard of.
    term: MasterTerm | None = None


@attrs.frozen
class Vote:
    """One other node's answer; without a ballot `problem` says why there is none.

    A node that `rejects` us has answered, namely that it takes no calls from us.
    """

    node: str
    ballot: Ballot | None = None
    problem: str = ""
    rejects: bool = False


@attrs.frozen(kw_only=True)
class Tally:
    """The votes, counted. Each text of `against`, `newer` and `silent` begins with the node's name."""

    needed: int
    all: int
    agree: tuple[str, ...]
    against: tuple[str, ...]
    newer: tuple[str, ...]
    silent: tuple[str, ...]
    #: Of those against, who take no calls from us.
    rejecting: tuple[str, ...]
    #: Who has heard of another master that is not before us.
    overtaken: tuple[str, ...]
    #: The other nodes that have answered, whatever they said.
    answered: frozenset[str]
    #: The highest serial number of a configuration that anybody told of, and the highest job id that counts.
    highest_serial: int
    highest_job: int
    #: The term that is higher than that of any other master that anybody told of; 0 when nobody told of one.
    term: int

    @property
    def outcome(self) -> Outcome:
        """Newer data anywhere are enough to lose; they must not be overwritten."""
        if self.newer or len(self.agree) + len(self.silent) < self.needed:
            return Outcome.LOST
        return Outcome.WON if len(self.agree) >= self.needed else Outcome.OPEN


def count(purpose: Purpose, claim: Claim, votes: Sequence[Vote]) -> Tally:
    """Count the votes of all other nodes that are not offline; this node agrees with itself."""
    agree, newer = [claim.name], []
    against: list[str] = []
    silent: list[str] = []
    given = {vote.node: vote.ballot for vote in votes if vote.ballot is not None}
    for vote in votes:
        if vote.ballot is None:
            (against if vote.rejects else silent).append(f"{vote.node} ({vote.problem})")
        elif reason := newer_than(purpose, claim, vote.ballot, given.get(vote.ballot.master or "")):
            newer.append(f"{vote.node} {reason}")
        elif reason := objection(purpose, claim, vote.ballot):
            against.append(f"{vote.node} {reason}")
        else:
            agree.append(vote.node)
    ballots = given.values()
    size = len(votes) + 1
    return Tally(
        needed=size // 2 + 1,
        all=size,
        agree=tuple(agree),
        against=tuple(against),
        newer=tuple(newer),
        silent=tuple(silent),
        rejecting=tuple(vote.node for vote in votes if vote.rejects),
        overtaken=tuple(vote.node for vote in votes if vote.ballot is not None and overtakes(claim, vote.ballot)),
        answered=frozenset(vote.node for vote in votes if vote.ballot is not None or vote.rejects),
        highest_serial=max([claim.serial, *(ballot.newest for ballot in ballots)]),
        highest_job=max([claim.job_serial, *(known_job(claim, ballot) for ballot in ballots)]),
        term=max(term_after(claim, term) for term in (claim.term, *(ballot.term for ballot in ballots))),
    )


def newer_than(purpose: Purpose, claim: Claim, ballot: Ballot, followed: Ballot | None) -> str | None:
    """What a node has that is newer than what we have. @param followed: the ballot of the node that it follows.

    A node that follows another master than us says so instead when we start. At a failover what an attempt of ours
    before this one has left behind, which names us as the master, hinders nobody.
    """
    if foreign(claim, ballot):
        return None
    follows_us = ballot.master == claim.name
    if purpose is Purpose.START and not follows_us:
        return None
    ours, theirs = config_term(claim, claim.term), config_term(claim, ballot.term)
    if purpose is Purpose.FAILOVER and ours and theirs >= ours + TERM_GAP:
        return f"has the configuration of a later master (term {theirs}), this node only that of term {ours}"
    newest = newest_of(purpose, claim, ballot, followed)
    if newest > claim.serial and not (purpose is Purpose.FAILOVER and follows_us):
        return f"has configuration {newest}, this node only {claim.serial}"
    known = max(claim.job_serial, 0)  # before the first job some nodes have no file of the last one's id
    if known_job(claim, ballot) > known:
        return f"knows job {ballot.job_serial}, this node only {known}"
    return None


def known_job(claim: Claim, ballot: Ballot) -> int:
    """The highest job id of a node, unless its copies of jobs are a former master's, who may have gone on alone.

    Such jobs are set aside when the node has its copies put right, and others get their ids.
    """
    return -1 if is_former(claim, ballot.term, "queue") else ballot.job_serial


def newest_of(purpose: Purpose, claim: Claim, ballot: Ballot, followed: Ballot | None) -> int:
    """The newest configuration that a node tells of, that there is, and that no former master counted on alone.

    At a failover a claim whose claimant has no such configuration was left by one that was broken off. Of a claimant
    that is silent this is not known, so its claim counts.
    """
    held = -1 if ballot.config_serial is None or is_former(claim, ballot.term, "config") else ballot.config_serial
    broken_off = followed is not None and (followed.config_serial or -1) < ballot.ssconf_serial
    if is_former(claim, ballot.term, "ssconf") or (purpose is Purpose.FAILOVER and broken_off):
        return held
    return max(held, ballot.ssconf_serial)


def is_former(claim: Claim, term: MasterTerm | None, copy: Copy) -> bool:
    """Whether what a node has is of a master before the one in whose term our configuration was written.

    That one may have gone on alone: neither its serial numbers nor its job ids make it newer. Of a term that is not known
    this cannot be told.
    """
    if term is None or term.cluster != claim.cluster_uuid:
        return False
    written: int = getattr(term, copy)
    return 0 < written <= config_term(claim, claim.term) - TERM_GAP


def objection(purpose: Purpose, claim: Claim, ballot: Ballot) -> str | None:
    """Why a node does not agree."""
    if foreign(claim, ballot):
        return f"belongs to another cluster ({ballot.cluster_uuid})"
    if purpose is Purpose.START and ballot.master != claim.name:
        return f"takes {ballot.master} as the master" if ballot.master else "knows no master"
    return None


def overtakes(claim: Claim, ballot: Ballot) -> bool:
    """Whether a node has heard of another master, made after or with us; one that was away follows an old one.

    It may not follow that one, and refuses us all the same: a claim that it could not write is one that it has heard of.
    """
    if foreign(claim, ballot):
        return False
    ours, theirs = claim.term, ballot.term
    if ours is not None and theirs is not None and ours.cluster == theirs.cluster:
        return theirs.master != claim.name and theirs.number >= ours.number
    return ballot.master not in (None, claim.name) and ballot.newest > claim.serial


def config_term(claim: Claim, term: MasterTerm | None) -> int:
    """In which term the configuration that a node has was written; 0 when it is not known."""
    return 0 if term is None or term.cluster != claim.cluster_uuid else term.config


def term_after(claim: Claim, term: MasterTerm | None) -> int:
    """The lowest term in which a node that has heard of this one follows us; 0 when it has heard of none."""
    if term is None or term.cluster != claim.cluster_uuid:
        return 0
    return term.number if term.master == claim.name else term.number + TERM_GAP


def foreign(claim: Claim, ballot: Ballot) -> bool:
    """Whether the ballot is another cluster's; a node without a configuration cannot tell."""
    return ballot.cluster_uuid is not None and ballot.cluster_uuid != claim.cluster_uuid


def refusal(purpose: Purpose, name: str, tally: Tally) -> ConfigurationError:
    """Why a tally that was not won keeps the node from the role, who says so, and what to do."""
    if tally.newer:
        advice = (
            "make the node with the newest data the master ('gnt-cluster master-failover' there), or, if that is lost "
            "anyway, give --no-voting --yes-do-it here"
        )
        return NotMasterError(f"{name} cannot be the master: {listed(tally.newer)}; {advice}")
    if tally.outcome is Outcome.LOST:
        advice = (
            "use the cluster from its master; 'gnt-cluster master-failover' makes another node the master"
            if purpose is Purpose.START
            else "run the command on another candidate; 'gnt-node modify' on the master makes this node one again"
        )
        return NotMasterError(f"{name} is not the master: {listed([*tally.against, *tally.silent])}; {advice}")
    role = "is the master" if purpose is Purpose.START else "may become the master"
    return NoQuorum(
        f"only {len(tally.agree)} of {tally.all} nodes agree that {name} {role}, {tally.needed} are needed; no "
        f"answer from {listed(tally.silent)}{also(tally.against)}; run '{DaemonControl.here().command('start', NODE)}' there, or, "
        f"only if no other master runs, '{WITHOUT_VOTES}' here"
    )


def outcast(name: str, tally: Tally) -> NotMasterError | None:
    """Why a node cannot be the master even without a vote: others that run take nothing from it."""
    if not tally.rejecting:
        return None
    return NotMasterError(
        f"{name} cannot be the master, not even without a vote: {listed(tally.rejecting)} take no calls from it, since it is "
        "no candidate by their files; make it one with 'gnt-node modify' on the master, or run the command on a candidate"
    )


def also(against: Sequence[str]) -> str:
    """Those who object, after those who are silent."""
    return f"; against it: {listed(against)}" if against else ""


def listed(texts: Iterable[str]) -> str:
    """Some, and how many more."""
    every = list(texts)
    more = f" and {len(every) - NAMED} more" if len(every) > NAMED else ""
    return ", ".join(every[:NAMED]) + more
