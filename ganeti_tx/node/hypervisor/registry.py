"""Which hypervisors this node has."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ganeti_tx.node.hypervisor.fake import FakeHypervisor
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.threads import IThreads


class Parts(Protocol):
    """What drivers are made from; a node daemon's own parts have it."""

    paths: Paths
    files: IFiles
    threads: IThreads
    runner: IProcessRunner
    clock: Any
    reactor: Any
    now: Callable[[], float]


def load_hypervisors(parts: Parts) -> Mapping[str, IHypervisor]:
    """Every driver that is built, by its name; what a node lacks for one is told by the driver's `verify`."""
    return {"fake": FakeHypervisor(parts.files, parts.paths, parts.now)}
