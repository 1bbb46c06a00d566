"""Network namespaces in which tests have nodes, guests and neighbours."""

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from shutil import which
from threading import Thread
from typing import Any, TypeVar

from attrs import define, field
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SkipTest, TestCase
from zope.interface import implementer

from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner, ProcessResult
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner

T = TypeVar("T")


@implementer(IProcessRunner)
@define
class NamespaceRunner:
    """Runs everything inside a network namespace. @ivar more: what is in every program's environment besides."""

    inner: ReactorProcessRunner
    namespace: str
    more: dict[str, str] = field(factory=dict)

    def run(
        self, argv: Sequence[str], *, env: Mapping[str, str] = CLEAN_ENV, **options: Any
    ) -> Deferred[ProcessResult]:
        """See `IProcessRunner`."""
        return self.inner.run(["ip", "netns", "exec", self.namespace, *argv], env={**env, **self.more}, **options)

    def run_detached(self, argv: Sequence[str], **options: Any) -> int:
        """See `IProcessRunner`."""
        return self.inner.run_detached(["ip", "netns", "exec", self.namespace, *argv], **options)

    async def does(self, line: str, **options: Any) -> str:
        """What a command says, whose words have no spaces in them. @raise AssertionError: it fails."""
        result = await self.run(line.split(), **options)
        assert result.succeeded, f"{line}: {result.describe()}"
        return result.stdout.decode()

    def inside(self, do: Callable[[], T]) -> T:
        """Do something there, in a thread of its own, which ends."""
        done: list[T] = []

        def enter() -> None:
            with open(f"/run/netns/{self.namespace}", "rb") as space:
                assert ctypes.CDLL(None).setns(space.fileno(), 0) == 0
            done.append(do())

        thread = Thread(target=enter)
        thread.start()
        thread.join()
        return done[0]


class NamespaceCase(TestCase):
    """A test with namespaces of its own, which go when it ends."""

    timeout = 120

    async def new_namespace(self, word: str) -> NamespaceRunner:
        """@raise SkipTest: there can be none."""
        if os.getuid() != 0 or which("ip") is None:
            raise SkipTest("network namespaces need root and the program ip")
        outside = ReactorProcessRunner(reactor, reactor)
        name = f"gtx{os.getpid()}{word}"
        made = await outside.run(["ip", "netns", "add", name])
        if not made.succeeded:
            raise SkipTest(f"no network namespace can be made: {made.describe()}")
        self.addCleanup(outside.run, ["ip", "netns", "delete", name])
        runner = NamespaceRunner(outside, name)
        await runner.does("ip link set lo up")
        # Addresses can be used at once, and are answered for at once.
        await runner.does("sysctl -eqw net/ipv6/conf/default/accept_dad=0")
        for family in ("ipv4", "ipv6"):
            await runner.does(f"sysctl -eqw net/{family}/neigh/default/proxy_delay=0")
        return runner

    async def new_neighbour(self, node: NamespaceRunner, word: str, interface: str) -> NamespaceRunner:
        """A namespace whose eth0 is connected with an interface of that name on the node; both are up."""
        neighbour = await self.new_namespace(word)
        made = f"ip link add name {interface} type veth peer name eth0 netns {neighbour.namespace}"
        await node.does(made)
        await node.does(f"ip link set {interface} up")
        await neighbour.does("ip link set eth0 up")
        return neighbour
