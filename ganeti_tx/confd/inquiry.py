"""How an answer is found: a poll, and where that leaves open which answer is the newest, two more.

Most serial numbers in replies are of one object, and do not change with others on which an answer depends too. Who
disagrees under one serial number is asked for that of the whole configuration, then the newest are asked again.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from ganeti_tx.confd.messages import Status
from ganeti_tx.confd.poll import Answer, Peer, Poll, value_of
from ganeti_tx.confd.questions import Question, config_serial

T = TypeVar("T")

#: Seconds for each of the further polls: who is asked has just answered.
SETTLING = 2.0

#: A poll of some peers that expires after some seconds.
NewPoll = Callable[[Question[Any], Sequence[Peer], float], Poll]


def inquiry(
    new_poll: NewPoll, question: Question[T], peers: Sequence[Peer], expiry: float
) -> Generator[Poll, None, Answer[T]]:
    """Gives the polls to be held, one after the other, and returns the answer.

    @raise ConfdClientError: nobody has answered, or the newest answer is an error.
    """
    poll = new_poll(question, peers, expiry)
    yield poll
    if poll.undecided():
        serials = new_poll(config_serial(), tuple(poll.replies), SETTLING)
        yield serials
        newest = with_highest(serials)
        if newest:
            again = new_poll(question, newest, SETTLING)
            yield again
            poll = again if again.replies else poll
    reply = poll.newest()
    return Answer(value_of(question, reply), reply.serial, poll.givers(reply), poll.conflicting())


def with_highest(serials: Poll) -> tuple[Peer, ...]:
    """Those who have the newest configuration."""
    known = {peer: reply.answer for peer, reply in serials.replies.items() if reply.status == Status.OK}
    numbers = {peer: number for peer, number in known.items() if type(number) is int}
    return tuple(peer for peer, number in numbers.items() if number == max(numbers.values()))
