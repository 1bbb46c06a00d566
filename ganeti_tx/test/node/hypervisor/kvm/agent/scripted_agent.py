"""A socket with an agent behind it that says what a test wants, whatever it is asked."""

from collections.abc import Callable
from typing import Any

import msgspec
from twisted.internet.interfaces import IReactorUNIX
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from zope.interface import implementer

from ganeti_tx.node.hypervisor.kvm.agent.talk import MARK

#: Says nothing; for what is more than JSON, bytes.
SILENCE = object()
Says = Callable[[str], Any]


class AgentTransport(StringTransport):
    """What is written to it is answered, byte by byte if it is to be."""

    def __init__(self, says: Says, at_once: bool) -> None:
        super().__init__()
        self.says, self.at_once = says, at_once
        self.asked: list[str] = []
        self.protocol: Protocol

    def write(self, data: bytes) -> None:
        """One question."""
        question = msgspec.json.decode(data.removeprefix(MARK))
        self.asked.append(question["execute"])
        said = self.says(question["execute"])
        if said is SILENCE:
            return
        if not isinstance(said, bytes):
            said = msgspec.json.encode(said) + b"\n"
        if question["execute"] == "guest-sync-delimited":
            said = b'{"return": "of an earlier talk"}\n' + MARK + said
        for start in range(0, len(said), len(said) if self.at_once else 1):
            self.protocol.dataReceived(said[start : start + len(said) if self.at_once else start + 1])


@implementer(IReactorUNIX)
class ScriptedUnix(Clock):  # type: ignore[misc]  # nobody listens
    """A reactor whose only socket is the agent's. @ivar asked: what the agent was asked, talk by talk."""

    def __init__(self, says: Says, at_once: bool = True) -> None:
        super().__init__()
        self.says, self.at_once = says, at_once
        self.asked: list[list[str]] = []
        self.open = 0

    def connectUNIX(self, address: str, factory: Factory, timeout: float = 30, checkPID: bool = False) -> Any:
        """A talk begins."""
        transport = AgentTransport(self.says, self.at_once)
        self.asked.append(transport.asked)
        protocol = factory.buildProtocol(None)
        assert protocol is not None
        transport.protocol = protocol  # type: ignore[assignment]
        self.open += 1
        assert self.open == 1, "QEMU serves one at a time"

        def closed(*_: object) -> None:
            self.open -= 1

        transport.abortConnection = closed  # type: ignore[method-assign]
        protocol.makeConnection(transport)
        return transport


def well_behaved(command: str) -> Any:
    """An agent of a guest with two file systems."""
    answers: dict[str, Any] = {
        "guest-sync-delimited": 20151,
        "guest-fsfreeze-freeze": 2,
        "guest-fsfreeze-thaw": 2,
        "guest-fsfreeze-status": "thawed",
        "guest-network-get-interfaces": [],
    }
    return {"return": answers[command]}


def but(**others: Any) -> Says:
    """The same, but for some answers, by commands with underscores."""
    return lambda command: others.get(command.replace("-", "_"), well_behaved(command))
