"""What is used of a reactor, by name: each part asks for what it needs, and a daemon's root has all of it."""

from twisted.internet.interfaces import (
    IReactorCore,
    IReactorFDSet,
    IReactorProcess,
    IReactorSocket,
    IReactorSSL,
    IReactorTCP,
    IReactorThreads,
    IReactorTime,
    IReactorUDP,
    IReactorUNIX,
)


class IProcessReactor(IReactorTime, IReactorProcess):
    """Starts programs, and gives them time."""


class ISocketReactor(IReactorTime, IReactorUNIX):
    """Connects to sockets of this machine and listens on them."""


class ILocalReactor(ISocketReactor, IReactorFDSet):
    """The same, and waits for descriptors of any kind."""


class IDatagramReactor(IReactorTime, IReactorUDP):
    """Sends datagrams and hears them."""


class IStreamReactor(IReactorTime, IReactorTCP, IReactorSSL):
    """Connects to other machines and listens for them."""


class IDaemonReactor(
    IReactorCore, IReactorThreads, IProcessReactor, ILocalReactor, IDatagramReactor, IStreamReactor, IReactorSocket
):
    """The reactor of a process of its own."""
