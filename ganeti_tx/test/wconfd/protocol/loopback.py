"""A WConfD in memory, with connections in memory, on one clock; it can be stopped and started again."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.protocol import connectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from txaio import tx
from zope.interface import implementer

from ganeti_tx.config.upgrade import with_members
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.luxi.conversation import Conversation, Link
from ganeti_tx.luxi.framing import TERMINATOR
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.rpc.interfaces import INodeRpc, NodeUnreachableError, Outcome
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import ISocketReactor
from ganeti_tx.test.config.stores import CONFIG, SlowFiles
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.wconfd.protocol.client import WconfClient
from ganeti_tx.wconfd.protocol.link import Link as WconfLink
from ganeti_tx.wconfd.service import Wconfd, WconfdParts, build_wconfd

T = TypeVar("T")

MASTER = "node1.example.com"


@implementer(INodeRpc)
class RecordingRpc:
    """Nodes that take what they are sent, unless they are down; each call can be held back."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.down: set[str] = set()
        self.held: list[Deferred[None]] | None = None

    async def call(self, node: Any, call: Any, timeout: float | None = None) -> Any:
        """See INodeRpc."""
        self.calls.append((node.name, call))
        if self.held is not None:
            self.held.append(Deferred())
            await self.held[-1]
        if node.name in self.down:
            raise NodeUnreachableError(f"node {node.name} cannot be reached")

    async def call_many(self, nodes: Any, call: Any, timeout: float | None = None) -> dict[str, Outcome[Any]]:
        """See INodeRpc."""
        return {node.name: Outcome(await self.call(node, call)) for node in nodes}

    def names(self) -> list[tuple[str, str]]:
        """Node and call, in the order in which they were sent; forgets them."""
        calls, self.calls = self.calls, []
        return [(name, call.name) for name, call in calls]


class _Pipe(StringTransport):
    """The server's end: what it writes reaches the conversation a moment later."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.conversation: Conversation | None = None
        self.protocol: Any = None

    def write(self, data: bytes) -> None:
        self.clock.callLater(0, self._deliver, data)

    def _deliver(self, data: bytes) -> None:
        if self.conversation is not None:
            self.conversation.received(data)

    def loseConnection(self) -> None:
        self.clock.callLater(0, self.cut)

    def abortConnection(self) -> None:
        self.clock.callLater(0, self.cut)

    def cut(self) -> None:
        """Both ends hear of the end."""
        conversation, self.conversation = self.conversation, None
        if conversation is not None:
            conversation.lost()
            self.protocol.connectionLost(Failure(connectionDone.value))


class Cluster:
    """Files, clock, nodes and processes that outlive a WConfD."""

    def __init__(self, config: ConfigData = CONFIG) -> None:
        self.clock = Clock()
        self.files = SlowFiles()
        self.paths = Paths()
        self.rpc = RecordingRpc()
        self.liveness = FakeLiveness()
        self.wconfd: Wconfd | None = None
        self.pipes: list[_Pipe] = []
        #: The methods of all requests that came, in their order.
        self.requests: list[str] = []
        self.files.mkdir(self.paths.data_dir)
        Deferred.fromCoroutine(self.files.write_atomic(self.paths.config_file, encode(with_members(config)), 0o640))

    def parts(self, own_name: str = MASTER) -> WconfdParts:
        """What WConfD works with here."""
        return WconfdParts(
            own_name=own_name,
            paths=self.paths,
            files=self.files,
            clock=self.clock,
            now=lambda: 1000.0 + self.clock.seconds(),
            make_rpc=lambda: self.rpc,
            liveness=self.liveness,
            entropy=SeededEntropy(1),
        )

    def start(self) -> Wconfd:
        """Bring WConfD up."""
        started: list[Wconfd] = []
        Deferred.fromCoroutine(build_wconfd(self.parts())).addCallback(started.append)
        [self.wconfd] = started
        return self.wconfd

    def kill(self) -> None:
        """WConfD ends without a word: only its files stay."""
        assert self.wconfd is not None
        self.wconfd.owners.stop()
        self.wconfd.distributor.stop()
        self.wconfd.rapi_files.stop()
        self.wconfd = None
        for pipe in self.pipes:
            pipe.cut()
        self.pipes = []
        self.settle()

    async def connect(self) -> Conversation:
        """A connection. @raise NoMasterError: WConfD is down."""
        if self.wconfd is None:
            raise NoMasterError("WConfD is not running")
        protocol: Any = self.wconfd.factory.buildProtocol(None)
        pipe = _Pipe(self.clock)

        def write(data: bytes) -> None:
            self.clock.callLater(0, self.receive, pipe, data)

        link = Link(write, pipe.abortConnection, self.clock.callLater)
        framework: Any = tx
        pipe.conversation = Conversation(framework, link, 600.0)
        pipe.protocol = protocol
        protocol.makeConnection(pipe)
        self.pipes.append(pipe)
        return pipe.conversation

    def receive(self, pipe: _Pipe, data: bytes) -> None:
        """Hand what a client wrote to the server, if that still is there."""
        if pipe.conversation is not None:
            self.requests.append(msgspec.json.decode(data.removesuffix(TERMINATOR))["method"])
            pipe.protocol.dataReceived(data)

    def settle(self) -> None:
        """Let everything happen that takes no time."""
        for _ in range(100):
            if not any(call.getTime() <= self.clock.seconds() for call in self.clock.getDelayedCalls()):
                return
            self.clock.advance(0)

    def advance(self, seconds: float) -> None:
        """Let time pass, a little at a time."""
        self.settle()
        while seconds > 0:
            self.clock.advance(min(seconds, 0.25))
            self.settle()
            seconds -= 0.25

    def client(self, timeout: float = 60.0) -> WconfClient:
        """A job process's client."""
        return WconfClient(
            cast(ISocketReactor, self.clock),
            "",
            WconfLink(connect=self.connect, connect_to_wait=self.connect, clock=self.clock, timeout=timeout),
        )

    def job(self, number: int, process: str = "") -> Owner:
        """A living job, or another process of one."""
        return Owner(number, str(self.liveness.start(self.paths.livelock_dir / f"job-{number}{process}")))

    def die(self, owner: Owner) -> None:
        """A job's process dies."""
        self.liveness.die(Path(owner.livelock))

    def begin(self, work: Coroutine[Any, Any, T]) -> "Deferred[T]":
        """Start something and let happen what takes no time."""
        begun = Deferred.fromCoroutine(work)
        self.settle()
        return begun
