"""The way to the configuration daemons: the node's own one where there is one, else some of the others."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from ganeti_tx.confd.client import ConfdClient, some
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.on_twisted import client
from ganeti_tx.confd.peers import candidates, peer, read_key
from ganeti_tx.confd.poll import Peer
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError
from ganeti_tx.mond.config_facts import IAsk
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDatagramReactor

T = TypeVar("T")

#: Seconds that one daemon has that is asked alone, and several.
ALONE_EXPIRY = 2.0
EXPIRY = 5.0
#: How many are asked at once.
SEVERAL = 3
#: Seconds for which one that answered best is asked alone, and one that was silent is not.
TRUST = 60.0

#: A client for a key and those who may be asked, with the seconds that they have.
MakeClient = Callable[[Key, Callable[[], Sequence[Peer]], float], ConfdClient]


def make_client(reactor: IDatagramReactor, key: Key, peers: Callable[[], Sequence[Peer]], expiry: float) -> ConfdClient:
    """The real one; it asks few at once: every node asks all the time."""
    made = client(reactor, key, peers, expiry=expiry)
    made.choose = lambda found, count: some(found, min(count, SEVERAL))
    return made


@implementer(IAsk)
@define(eq=False)
class Asking:
    """One daemon is asked alone as long as it answers: the node's own, or else the one that last had the newest answer
    of several. Whom to ask is read anew each time, the key after a failure, as the files may have changed.
    """

    paths: Paths
    own_address: str
    clock: IReactorTime
    make: MakeClient
    _alone: ConfdClient | None = field(default=None, init=False)
    _several: ConfdClient | None = field(default=None, init=False)
    _asked: Peer | None = field(default=None, init=False)  # who is asked alone
    _trusted: Peer | None = field(default=None, init=False)
    _trust_ends: float = field(default=0.0, init=False)
    _own_again: float = field(default=0.0, init=False)

    async def ask(self, question: Question[T]) -> T:
        """See `IAsk`. @raise ConfigurationError: this node's files do not say whom to ask."""
        own = peer(self.own_address)
        self._renew_key()
        self._asked = self._one(own, candidates(self.paths))
        if self._asked is not None:
            try:
                return (await self._client_of_one().ask(question)).value
            except ConfdClientError:
                self._distrust(own)
        answer = await self._client_of_several(own).ask(question)
        self._trusted, self._trust_ends = answer.peers[0], self.clock.seconds() + TRUST
        return answer.value

    def close(self) -> None:
        """Close the sockets; the next question opens them again."""
        for each in (self._alone, self._several):
            if each is not None:
                each.close()
        self._alone = self._several = None

    def _renew_key(self) -> None:
        """The cluster may have another one meanwhile. The sockets stay, each new one would be a line in the log."""
        key = read_key(self.paths.hmac_key)
        for each in (self._alone, self._several):
            if each is not None:
                each.key = key

    def _one(self, own: Peer, found: Sequence[Peer]) -> Peer | None:
        """Whom to ask alone."""
        if own in found and self.clock.seconds() >= self._own_again:
            return own
        return self._trusted if self._trusted in found and self.clock.seconds() < self._trust_ends else None

    def _distrust(self, own: Peer) -> None:
        """Who was asked alone gave no answer."""
        if self._asked == own:
            self._own_again = self.clock.seconds() + TRUST
        else:
            self._trusted = None

    def _client_of_one(self) -> ConfdClient:
        if self._alone is None:
            self._alone = self.make(read_key(self.paths.hmac_key), self._only, ALONE_EXPIRY)
        return self._alone

    def _only(self) -> list[Peer]:
        return [] if self._asked is None else [self._asked]

    def _client_of_several(self, own: Peer) -> ConfdClient:
        if self._several is None:
            self._several = self.make(read_key(self.paths.hmac_key), partial(self._besides, own), EXPIRY)
        return self._several

    def _besides(self, own: Peer) -> list[Peer]:
        found = candidates(self.paths)
        return [each for each in found if each != own] or found
