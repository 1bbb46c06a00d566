"""A node root that a hypervisor's real driver works in."""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from attrs import define, field
from twisted.internet import reactor

from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import IThreads, reactor_threads


@define
class DriverNode:
    """One node; it is what its drivers are made from (`HypervisorParts`)."""

    top: Path = field(factory=lambda: Path(mkdtemp(prefix="hv")))  # short: sockets' names lie in it
    runner: IProcessRunner = field(factory=lambda: ReactorProcessRunner(reactor, reactor))
    paths: Paths = field(init=False)
    threads: IThreads = field(init=False)
    files: IFiles = field(init=False)
    clock: Any = field(default=reactor, init=False)
    reactor: Any = field(default=reactor, init=False)
    now: Callable[[], float] = field(default=time.time, init=False)

    def __attrs_post_init__(self) -> None:
        self.paths = Paths(self.top)
        self.paths.conf_dir.mkdir(parents=True)
        self.threads = reactor_threads(reactor)  # type: ignore[arg-type]
        self.files = RealFiles(self.threads)
