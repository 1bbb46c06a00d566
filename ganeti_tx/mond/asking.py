"""The way to the configuration daemons: the node's own one where there is one, else some of the others."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from attrs import define, field
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

T = TypeVar("T")

#: Seconds that the node's own daemon has.
OWN_EXPIRY = 2.0
#: Seconds that the others have.
OTHERS_EXPIRY = 5.0
#: How many of the others are asked at once.
OTHERS = 3
#: Seconds for which the node's own daemon is not asked after it was silent.
SILENCE = 60.0

#: A client for a key and those who may be asked, with the seconds that they have.
MakeClient = Callable[[Key, Callable[[], Sequence[Peer]], float], ConfdClient]


def make_client(reactor: Any, key: Key, peers: Callable[[], Sequence[Peer]], expiry: float) -> ConfdClient:
    """The real one; it asks few at once: every node asks all the time."""
    made = client(reactor, key, peers, expiry=expiry)
    made.choose = lambda found, count: some(found, min(count, OTHERS))
    return made


@implementer(IAsk)
@define(eq=False)
class Asking:
    """Whom to ask and with which key is read anew after a failure, as the files may have changed."""

    paths: Paths
    own_address: str
    clock: Any
    make: MakeClient
    _own: ConfdClient | None = field(default=None, init=False)
    _others: ConfdClient | None = field(default=None, init=False)
    _own_again: float = field(default=0.0, init=False)

    async def ask(self, question: Question[T]) -> T:
        """See `IAsk`. @raise ConfigurationError: this node's files do not say whom to ask."""
        own = peer(self.own_address)
        found = candidates(self.paths)
        try:
            if own in found and self.clock.seconds() >= self._own_again:
                try:
                    return (await self._ask_own(own).ask(question)).value
                except ConfdClientError:
                    self._own_again = self.clock.seconds() + SILENCE
            return (await self._ask_others(own).ask(question)).value
        except ConfdClientError:
            self.close()
            raise

    def close(self) -> None:
        """Close the sockets; the next question opens them again."""
        for each in (self._own, self._others):
            if each is not None:
                each.close()
        self._own = self._others = None

    def _ask_own(self, own: Peer) -> ConfdClient:
        if self._own is None:
            self._own = self.make(read_key(self.paths.hmac_key), lambda: [own], OWN_EXPIRY)
        return self._own

    def _ask_others(self, own: Peer) -> ConfdClient:
        if self._others is None:
            self._others = self.make(read_key(self.paths.hmac_key), partial(self._besides, own), OTHERS_EXPIRY)
        return self._others

    def _besides(self, own: Peer) -> list[Peer]:
        found = candidates(self.paths)
        return [each for each in found if each != own] or found
