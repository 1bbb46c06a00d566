"""Keys that are replaced while a node daemon and its caller run: TLS on the loopback, the real agent and the real server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from attrs import frozen
from twisted.internet import reactor
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.trial.unittest import TestCase
from zope.interface import implementer

from ganeti_tx.node.answers import answers
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.http import NodeSite
from ganeti_tx.node.terms import Terms
from ganeti_tx.node.tls import NodeTls
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.calls.node import TestDelay, Version
from ganeti_tx.rpc.http.interfaces import INodeAgent
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_client, issue_server
from ganeti_tx.runtime.cluster_authority import together
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IStreamReactor
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.real.node_call_case import LIMIT, NODE, NOW, asynchronous, pause


class Keys:
    """What one authority has signed."""

    def __init__(self) -> None:
        self.authority = create_authority("cluster", NOW)
        self.server = issue_server(self.authority, ["node1", "127.0.0.1"], NOW)
        self.client = issue_client(self.authority, "node2", NOW)


@implementer(INodeAgent)
@frozen
class Renewing:
    """Another agent, whose keys are replaced when a call asks for new connections."""

    agent: Any
    start_anew: Callable[[], None]

    def ask(self, *call: Any) -> Any:
        """As INodeAgent says."""
        return self.agent.ask(*call)


class RenewalTests(TestCase):
    """A node and a caller, each with a directory of its own."""

    timeout = 120

    def setUp(self) -> None:
        self.files = RealFiles(InlineThreads())
        self.node, self.caller = (Paths(Path(self.mktemp()).absolute()) for _ in range(2))
        for paths in (self.node, self.caller):
            paths.data_dir.mkdir(parents=True)
        self.present, self.next = Keys(), Keys()
        self.trust(self.present.authority)
        self.show(self.present)
        self.call_with(self.present)
        self.admit(self.present)
        self.know(self.present)
        dispatch = NodeDispatch(self, order=CallOrder(Terms(self.files, self.node)).perform)
        site = NodeSite(dispatch, AdmittedCallers(self.files, self.node).admitted, reactor)
        net: Any = reactor
        server = net.listenSSL(0, site, NodeTls(self.files, self.node), interface="127.0.0.1")
        self.addCleanup(lambda: maybeDeferred(server.stopListening))
        self.rpc = node_rpc(cast(IStreamReactor, reactor), self.files, self.caller)
        self.rpc.port = server.getHost().port
        agent: Any = self.rpc.agent
        self.addCleanup(agent.close)

    def trust(self, *authorities: Identity) -> None:
        """Both ends trust these."""
        for paths in (self.node, self.caller):
            replace_file(paths.authority_pem, together([each.certificate for each in authorities]), 0o444)

    def show(self, keys: Keys) -> None:
        """What the node shows when it is called."""
        replace_file(self.node.server_pem, keys.server.bundle, 0o440)

    def call_with(self, keys: Keys) -> None:
        """What the caller shows."""
        replace_file(self.caller.client_pem, keys.client.bundle, 0o440)

    def admit(self, *those: Keys) -> None:
        """Whose calls the node takes."""
        lines = "".join(f"uuid={digest(keys.client.certificate)}\n" for keys in those)
        replace_file(self.node.ssconf_file("master_candidates_certs"), lines.encode(), 0o444)

    def know(self, *those: Keys) -> None:
        """By what the caller knows the node."""
        lines = "".join(f"node1={digest(keys.server.certificate)}\n" for keys in those)
        replace_file(self.caller.ssconf_file("node_certs"), lines.encode(), 0o444)
        replace_file(self.caller.ssconf_file("node_primary_ips"), b"node1 127.0.0.1\n", 0o444)

    @answers(Version)
    async def version(self, call: Version) -> int:
        """At once."""
        return 42

    @answers(TestDelay)
    async def delay(self, call: TestDelay) -> None:
        """After some seconds."""
        await pause(call.duration)

    async def talk(self) -> None:
        """A call succeeds."""
        self.assertEqual(await self.rpc.call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_step_by_step(self) -> None:
        """Trust both, use the new ones, forget the former: after each step they talk, and a call under way goes on."""
        present, following = self.present, self.next
        await self.talk()
        under_way = Deferred.fromCoroutine(self.rpc.call(NODE, TestDelay(duration=1.0), LIMIT))
        for step in (
            lambda: self.trust(present.authority, following.authority),
            lambda: self.admit(present, following),
            lambda: self.know(present, following),
            lambda: self.show(following),
            lambda: self.call_with(following),
            lambda: self.admit(following),
            lambda: self.know(following),
            lambda: self.trust(following.authority),
        ):
            step()
            await self.talk()
        await under_way
        await pause(0.1)

    @asynchronous
    async def test_kept_connection(self) -> None:
        """A connection that was made with a certificate that counts no more is replaced before its caller hears of it."""
        self.trust(self.present.authority, self.next.authority)
        await self.talk()
        self.admit(self.next)
        with self.assertRaises(NodeCallError):
            await self.rpc.call(NODE, Version(), LIMIT)
        agent: Any = self.rpc.agent

        def just_now() -> None:
            """It was replaced after the call had gone out."""
            self.call_with(self.next)
            agent.start_anew()

        self.rpc.agent = Renewing(agent, just_now)
        await self.talk()

    @asynchronous
    async def test_not_trusted(self) -> None:
        """Who is called with keys of an authority that is not trusted is not talked to."""
        self.show(self.next)
        with self.assertRaises(NodeUnreachableError):
            await self.rpc.call(NODE, Version(), LIMIT)

    @asynchronous
    async def test_broken(self) -> None:
        """Files that are no keys leave those of before, on both sides."""
        await self.talk()
        replace_file(self.node.server_pem, b"nonsense", 0o440)
        replace_file(self.caller.client_pem, b"nonsense", 0o440)
        await self.talk()
        self.show(self.present)
        self.call_with(self.present)
        await self.talk()
