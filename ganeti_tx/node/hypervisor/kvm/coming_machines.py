"""The connections over which machines come from other nodes: taken here, and handed to the QEMU that waits.

A QEMU that listens itself takes whoever comes first, and stands still while they say nothing. Here only the old node can connect
(`source_only`), and what is handed on has said something and never makes QEMU wait.
"""

import errno
import socket
from collections.abc import Callable
from contextlib import nullcontext

from attrs import define, field
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.interfaces import Alone
from ganeti_tx.node.hypervisor.kvm import migration
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.source_only import listening
from ganeti_tx.node.hypervisor.kvm.state import Awaited
from ganeti_tx.runtime.reactors import ILocalReactor

log = Logger()

#: Seconds for which the kernel keeps a connection from us on which nothing has been said.
SILENCE = 30
#: What accept(2) fails with while this machine has no room for a connection, and seconds until it is tried again.
NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
LATER = 1.0


class Listener(FileDescriptor):
    """A socket at which one connection is taken: the first one on which something has been said."""

    def __init__(self, reactor: ILocalReactor, listener: socket.socket, take: Callable[[socket.socket], None]) -> None:
        super().__init__(reactor)
        self._reactor, self._socket, self._take = reactor, listener, take
        listener.setblocking(False)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, SILENCE)
        self.connected = 1
        self.startReading()

    def fileno(self) -> int:
        """See `IFileDescriptor`."""
        return self._socket.fileno()

    def doRead(self) -> None:
        """Somebody has connected."""
        try:
            link, _ = self._socket.accept()
        except OSError as error:
            if error.errno in NO_ROOM:  # they are still there
                self.stopReading()
                self._reactor.callLater(LATER, self._listen_again)
            return  # else they have gone away again, or their network has
        if not has_spoken(link):
            link.close()
            return
        self.close()
        self._take(link)

    def _listen_again(self) -> None:
        if self._socket.fileno() >= 0:
            self.startReading()

    def connectionLost(self, reason: Failure) -> None:
        """The reactor gives up the descriptor: it stops."""
        self.close()

    def close(self) -> None:
        """Listen no more."""
        if self._socket.fileno() >= 0:
            self.stopReading()
            self._socket.close()


def has_spoken(link: socket.socket) -> bool:
    """Whether there is something to read, which is left there."""
    try:
        return bool(link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except OSError:
        return False


@define
class ComingMachines:
    """One listener for each machine that waits. They end with this daemon, and the next one begins them again."""

    reactor: ILocalReactor
    machines: OwnMachines
    _alone: Alone = field(default=nullcontext, init=False)
    #: By the names of instances, each with what fires when its QEMU has ended.
    _open: dict[str, tuple[Listener, Deferred[None]]] = field(factory=dict, init=False)

    async def wait(self, layout: InstanceLayout, awaited: Awaited) -> None:
        """Take the machine's connection when it comes. @raise HypervisorError: nobody can listen there."""
        async with self.machines.running(layout.name) as running:
            await running.remember(awaited=awaited)
        self._listen(layout, awaited)

    def listen_again(self, alone: Alone) -> None:
        """See `IListensForMachines`."""
        self._alone = alone
        for layout in self.machines.layouts():
            try:
                state = self.machines.state(layout)
                if state is not None and state.awaited is not None and self.machines.pid(layout) is not None:
                    self._listen(layout, state.awaited)
            except (HypervisorError, OSError) as error:
                log.error("instance {name} cannot come here: {why}", name=layout.name, why=error)

    def end(self, name: str) -> None:
        """Wait no more."""
        if (opened := self._open.pop(name, None)) is not None:
            listener, ended = opened
            listener.close()
            ended.cancel()

    def _listen(self, layout: InstanceLayout, awaited: Awaited) -> None:
        """Until it has come, or its QEMU has ended."""
        name = layout.name
        self.end(name)
        if (pid := self.machines.pid(layout)) is None:
            raise HypervisorError(f"instance {name}: the QEMU that waits for it has ended")
        ended = self.machines.processes.when_ended(pid, layout.pid)
        try:
            opened = listening(awaited.address, awaited.port, awaited.source)
        except HypervisorError:
            ended.addErrback(lambda failure: failure.trap(CancelledError))
            ended.cancel()
            raise
        listener = Listener(self.reactor, opened, lambda link: self._came(layout, link))
        ended.addCallbacks(lambda _: listener.close(), lambda failure: failure.trap(CancelledError))
        self._open[name] = listener, ended

    def _came(self, layout: InstanceLayout, link: socket.socket) -> None:
        self.end(layout.name)
        Deferred.fromCoroutine(self._hand_over(layout, link)).addErrback(
            lambda failure: log.failure("instance {name} cannot come here", failure, name=layout.name)
        )

    async def _hand_over(self, layout: InstanceLayout, link: socket.socket) -> None:
        """What goes wrong has the connection end, so that the old node knows.

        A call that ends what waits is done before or after: else the state would be written anew that it has removed.
        """
        with link:
            try:
                async with self._alone(layout.name), self.machines.running(layout.name) as running:
                    await running.remember(awaited=None)
                    await migration.take(running.client, link)
            except HypervisorError as error:
                log.error("instance {name} cannot come here: {why}", name=layout.name, why=error)
