"""QEMU's control socket for people: by it a machine is reached whose QMP socket somebody else keeps busy."""

import re
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IReactorTime, IReactorUNIX
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.qmp import QmpLost
from ganeti_tx.node.hypervisor.kvm.quiet_factory import QuietFactory

#: Seconds for a connection, and for an answer; a healthy QEMU needs milliseconds.
LIMIT = 3.0
PROMPT = b"(qemu) "
#: Bytes of a greeting and what a command prints.
MAX_SAID = 1 << 16
_STATUS = re.compile(rb"VM status: ([\w-]+)[^\r\n(]*(?:\(([\w-]+)\))?")


class _Talk(Protocol):
    """Types one command at the first prompt; `answered` fires at the next one."""

    def __init__(self, command: str) -> None:
        self._line = command.encode() + b"\n"
        self._said = b""
        self._typed = False
        self.answered: Deferred[bytes] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        """QEMU prints something."""
        self._said += data
        if len(self._said) > MAX_SAID:
            self._end(Failure(HypervisorError(f"QEMU's monitor printed more than {MAX_SAID} bytes")))
        elif PROMPT in self._said and self._typed:
            self._end(self._said)
        elif PROMPT in self._said:
            self._said, self._typed = b"", True
            assert self.transport is not None
            self.transport.write(self._line)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """QEMU has ended."""
        self._end(Failure(QmpLost("the connection to QEMU's monitor is closed")))

    def _end(self, result: bytes | Failure) -> None:
        if not self.answered.called:
            self.answered.callback(result)


@frozen
class HumanMonitor:
    """It serves one client at a time as well: each command has a connection of its own."""

    unix: IReactorUNIX
    clock: IReactorTime

    async def say(self, socket: Path, command: str, limit: float = LIMIT) -> bytes:
        """What QEMU prints. @raise QmpLost: it has ended, or ends by that. @raise HypervisorError: it does not answer in time."""
        endpoint = UNIXClientEndpoint(self.unix, str(socket), timeout=limit)
        try:
            talk: _Talk = await endpoint.connect(QuietFactory.forProtocol(lambda: _Talk(command)))
        except ConnectError:
            raise HypervisorError(f"QEMU takes no connection at {socket}") from None
        try:
            return await talk.answered.addTimeout(limit, self.clock)
        except TimeoutError:
            raise HypervisorError(f"QEMU's monitor at {socket}: nothing came within {limit:g} s") from None
        finally:
            assert talk.transport is not None
            talk.transport.abortConnection()  # type: ignore[attr-defined]  # every stream transport has it

    async def status(self, socket: Path) -> str:
        """The run state, as QMP calls it. @raise HypervisorError: it is not told."""
        found = _STATUS.search(await self.say(socket, "info status"))
        if found is None:
            raise HypervisorError(f"QEMU's monitor at {socket} does not tell the run state")
        return (found[2] or found[1]).decode()
