"""The client for programs that may block, such as the commands; it imports no Twisted."""

import math
import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from random import SystemRandom
from typing import Any, TypeVar
from uuid import uuid4

from attrs import define

from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.inquiry import inquiry
from ganeti_tx.confd.messages import MAX_DATAGRAM
from ganeti_tx.confd.poll import ASK_AGAIN, COVERAGE, EXPIRY, Answer, Peer, Poll, no_socket, signed_reply
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError
from ganeti_tx.model.ip_family import family_of

T = TypeVar("T")


@define
class BlockingClient:
    """Asks several servers at once and waits for them."""

    key: Key
    peers: Sequence[Peer]
    #: Seconds that the servers have.
    expiry: float = EXPIRY
    now: Callable[[], float] = time.time

    def ask(self, question: Question[T]) -> Answer[T]:
        """The newest answer to one of `ganeti_tx.confd.questions`. @raise ConfdClientError: there is none."""
        if not self.peers:
            raise ConfdClientError("there is no peer to ask")
        asked = SystemRandom().sample(list(self.peers), min(COVERAGE, len(self.peers)))
        polls = inquiry(self._new_poll, question, asked, self.expiry)
        while True:
            try:
                poll = next(polls)
            except StopIteration as end:
                answer: Answer[T] = end.value
                return answer
            hold(poll, self.now)

    def _new_poll(self, question: Question[Any], peers: Sequence[Peer], expiry: float) -> Poll:
        return Poll(self.key, question, str(uuid4()), peers, expiry)


def hold(poll: Poll, now: Callable[[], float]) -> None:
    """Send a poll's question, and return when enough have answered or the time is over."""
    datagram = poll.datagram(now())
    begun = time.monotonic()
    with ExitStack() as stack:
        sockets = open_sockets(poll.peers, stack)
        for after in (*(each for each in ASK_AGAIN if each < poll.expiry), poll.expiry):
            for peer in poll.silent():
                send(sockets.get(family_of(peer.host)), datagram, peer)
            listen(list(sockets.values()), poll, begun + after)
            if poll.enough():
                return


def open_sockets(peers: Sequence[Peer], stack: ExitStack) -> dict[socket.AddressFamily, socket.socket]:
    """A socket for each family of the peers that this machine has. @raise ConfdClientError: for none of them."""
    opened: dict[socket.AddressFamily, socket.socket] = {}
    reason: OSError | None = None
    for family in {family_of(peer.host) for peer in peers}:
        try:
            opened[family] = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        except OSError as error:
            reason = error
    if not opened:
        raise no_socket(reason)
    return opened


def send(opened: socket.socket | None, datagram: bytes, peer: Peer) -> None:
    """Ask a peer; one to whom there is no way is silent."""
    if opened is None:
        return
    try:
        opened.sendto(datagram, peer)
    except OSError:
        return


def listen(opened: list[socket.socket], poll: Poll, until: float) -> None:
    """Take answers until there are enough, or until a time of the monotonic clock."""
    waiting = select.poll()  # unlike select(), for any number of open files
    sockets = {each.fileno(): each for each in opened}
    for number in sockets:
        waiting.register(number, select.POLLIN)
    while not poll.enough() and (left := until - time.monotonic()) > 0:
        for number, _ in waiting.poll(math.ceil(left * 1000)):
            try:
                received, address = sockets[number].recvfrom(MAX_DATAGRAM, socket.MSG_DONTWAIT)
            except OSError:
                continue  # the kernel had something, and found that it was damaged
            known = signed_reply(poll.key, received)
            if known is not None and known[0] == poll.rsalt:
                poll.take(known[1], Peer(address[0], address[1]))
