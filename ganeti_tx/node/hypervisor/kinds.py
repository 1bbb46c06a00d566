"""What a folder with a hypervisor's driver registers."""

from collections.abc import Callable
from typing import Protocol

from twisted.internet.interfaces import IReactorTime

from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.reactors import ILocalReactor
from ganeti_tx.runtime.threads import IThreads


class HypervisorParts(Protocol):
    """What drivers are made from; a node daemon's own parts have it."""

    paths: Paths
    files: IFiles
    threads: IThreads
    runner: IProcessRunner
    clock: IReactorTime
    now: Callable[[], float]

    @property
    def reactor(self) -> ILocalReactor:
        """For sockets and descriptors."""


#: What each driver module has under the name `register`.
Register = Callable[[HypervisorParts], IHypervisor]
