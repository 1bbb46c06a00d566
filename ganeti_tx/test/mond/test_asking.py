"""Which configuration daemons are asked."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd import questions
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.poll import Answer, Peer
from ganeti_tx.errors import ConfdClientError, ConfigurationError
from ganeti_tx.mond.asking import TRUST, Asking
from ganeti_tx.runtime.paths import Paths

OWN, FIRST, SECOND = "127.1.1.1", "127.1.1.2", "127.1.1.3"


@define(eq=False)
class Network:
    """Daemons that answer or not; `asked` is who was, in order, `made` the clients."""

    silent: set[str] = field(factory=set)
    asked: list[list[str]] = field(factory=list)
    made: "list[FakeClient]" = field(factory=list)

    def make(self, key: Key, peers: Callable[[], Sequence[Peer]], expiry: float) -> Any:
        """See `MakeClient`."""
        made = FakeClient(self, peers, key)
        self.made.append(made)
        return made


@define(eq=False)
class FakeClient:
    """Asks the network's daemons."""

    network: Network
    peers: Callable[[], Sequence[Peer]]
    key: Key
    closed: bool = False

    async def ask(self, question: Any) -> Answer[Any]:
        """As ConfdClient does."""
        hosts = [each.host for each in self.peers()]
        self.network.asked.append(hosts)
        if set(hosts) <= self.network.silent:
            raise ConfdClientError("no answer")
        return Answer("answered", 1, tuple(each for each in self.peers() if each.host not in self.network.silent))

    def close(self) -> None:
        """As ConfdClient does."""
        self.closed = True


class AskingTests(SynchronousTestCase):
    """A node that is a master candidate beside two others."""

    def setUp(self) -> None:
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.paths.hmac_key.write_bytes(b"key\n")
        self.candidates(OWN, FIRST, SECOND)
        self.clock, self.network = Clock(), Network()
        self.asking = Asking(self.paths, OWN, self.clock, self.network.make)

    def candidates(self, *addresses: str) -> None:
        """What the node's file says."""
        self.paths.ssconf_file("master_candidates_ips").write_text("".join(f"{each}\n" for each in addresses))

    def ask(self) -> "Deferred[Any]":
        """A question."""
        return Deferred.fromCoroutine(self.asking.ask(questions.ping()))

    def test_own(self) -> None:
        """The node's own daemon is asked, and nobody else."""
        self.assertEqual(self.successResultOf(self.ask()), "answered")
        self.assertEqual(self.network.asked, [[OWN]])

    def test_own_is_silent(self) -> None:
        """When it is silent the others are asked, for a while at once; who answered best is then asked alone."""
        self.network.silent = {OWN, FIRST}
        self.assertEqual(self.successResultOf(self.ask()), "answered")
        self.successResultOf(self.ask())
        self.assertEqual(self.network.asked, [[OWN], [FIRST, SECOND], [SECOND]])
        self.network.silent = set()
        self.clock.advance(TRUST)
        self.successResultOf(self.ask())
        self.assertEqual(self.network.asked[-1], [OWN])

    def test_no_candidate(self) -> None:
        """A node that is no candidate asks several, then the best of them; after a while, or when it is silent, again."""
        self.candidates(FIRST, SECOND)
        for _ in range(3):
            self.successResultOf(self.ask())
        self.assertEqual(self.network.asked, [[FIRST, SECOND], [FIRST], [FIRST]])
        self.clock.advance(TRUST)
        self.successResultOf(self.ask())
        self.network.silent = {FIRST}
        self.successResultOf(self.ask())
        self.assertEqual(self.network.asked[3:], [[FIRST, SECOND], [FIRST], [FIRST, SECOND]])

    def test_candidates_change(self) -> None:
        """Who is a candidate no more is not asked."""
        for candidate in (FIRST, SECOND):
            self.candidates(candidate)
            self.successResultOf(self.ask())
        self.assertEqual(self.network.asked, [[FIRST], [SECOND]])

    def test_alone(self) -> None:
        """The only candidate asks itself, twice when it is silent."""
        self.candidates(OWN)
        self.network.silent = {OWN}
        self.failureResultOf(self.ask(), ConfdClientError)
        self.assertEqual(self.network.asked, [[OWN], [OWN]])

    def test_nobody_answers(self) -> None:
        """When nobody answers the key is read anew, for it may be another; the sockets stay."""
        self.network.silent = {OWN, FIRST, SECOND}
        signature = Key(b"other\n").signature(b"1", b"2")
        self.failureResultOf(self.ask(), ConfdClientError)
        self.paths.hmac_key.write_bytes(b"other\n")
        for _ in range(3):
            self.failureResultOf(self.ask(), ConfdClientError)
            self.assertEqual({each.key.signature(b"1", b"2") for each in self.network.made}, {signature})
            self.clock.advance(TRUST)
        self.assertEqual([each.closed for each in self.network.made], [False, False])
        self.paths.hmac_key.unlink()
        self.failureResultOf(self.ask(), ConfigurationError)

    def test_no_files(self) -> None:
        """A node whose files do not say whom to ask says so."""
        self.paths.ssconf_file("master_candidates_ips").unlink()
        self.failureResultOf(self.ask(), ConfigurationError)
        self.candidates()
        self.failureResultOf(self.ask(), ConfigurationError)
