"""Asking the other nodes; those that do not answer are asked again, with pauses, for a bounded time."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.election.votes import Outcome, Tally, Vote, listed
from ganeti_tx.rpc.calls.master import MasterVote
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, RpcError, Target
from ganeti_tx.rpc.refusals import NotCandidate

log = Logger()

#: Seconds between two rounds: the first pause, doubled each time up to the second number.
FIRST_PAUSE = 1.0
LAST_PAUSE = 10.0


async def poll(
    rpc: INodeRpc,
    clock: IReactorTime,
    voters: Sequence[Target],
    counted: Callable[[Sequence[Vote]], Tally],
    timeout: float,
    limit: float | None = None,
    waits: Callable[[Tally], Awaitable[None]] | None = None,
) -> Tally:
    """Ask until the outcome is clear, for `timeout` seconds at most and once at least; who is offline is not asked.

    @param limit: seconds that a node has for its answer; None is what the call says.
    @param waits: is told before each pause.
    """
    asked = {voter.name: voter for voter in voters if not voter.offline}
    votes: dict[str, Vote] = {}
    deadline = clock.seconds() + timeout
    pause = FIRST_PAUSE
    while True:
        missing = [voter for name, voter in asked.items() if name not in votes or is_silent(votes[name])]
        for name, outcome in (await rpc.call_many(missing, MasterVote(), limit)).items():
            votes[name] = vote_of(name, outcome.value, outcome.error)
        tally = counted(list(votes.values()))
        left = deadline - clock.seconds()
        if tally.outcome is not Outcome.OPEN or left <= 0:
            return tally
        log.info("waiting for the votes of {nodes}", nodes=listed(tally.silent))
        if waits is not None:
            await waits(tally)
        await deferLater(clock, min(pause, left))
        pause = min(2 * pause, LAST_PAUSE)


def is_silent(vote: Vote) -> bool:
    """Whether the node may yet answer."""
    return vote.ballot is None and not vote.rejects


def vote_of(name: str, ballot: Any, error: RpcError | None) -> Vote:
    """A node's answer, or why there is none; a problem is short, since there may be many."""
    if error is None:
        return Vote(name, ballot)
    if isinstance(error, NodeCallError) and isinstance(error.cause, NotCandidate):
        return Vote(name, problem="takes no calls from this node, which is no candidate by its files", rejects=True)
    return Vote(name, problem=short(error.reason))


def short(reason: str) -> str:
    """Not more than fits beside others."""
    return reason if len(reason) <= 100 else f"{reason[:97]}..."
