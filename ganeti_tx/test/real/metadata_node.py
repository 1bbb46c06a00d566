"""What a node has to tell its guests of themselves, with the real daemon as a process."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twisted.internet import reactor

from ganeti_tx.metad.incoming import listening
from ganeti_tx.model.instance_communication import METADATA_PORT, NODE_ADDRESS
from ganeti_tx.node.local_daemons import LocalDaemons, MachineProcesses
from ganeti_tx.node.metadata.daemon import OwnMetadataDaemon
from ganeti_tx.node.metadata.telling import Metadata
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.runtime.daemon_names import METADATA
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import ROOT_VARIABLE, Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.real.programs import SOURCE, Programs, is_gone, until


class MetadataNode:
    """In a directory of its own. Its test has `environment` in the place of `os.environ`."""

    def __init__(self, top: Path, hypervisors: Mapping[str, Any], port: int = METADATA_PORT) -> None:
        self.paths = Paths(top)
        self.programs = Programs(top)
        program = self.programs.path(METADATA)
        program.write_text(
            program.read_text().replace("import sys\n", f"import sys\nsys.argv += ['-p', '{port}']\n", 1)
        )
        self.environment = {**os.environ, ROOT_VARIABLE: str(top), "PYTHONPATH": str(SOURCE)}
        self.paths.ssconf_file("cluster_name").parent.mkdir(parents=True, exist_ok=True)
        self.paths.ssconf_file("cluster_name").write_text("cluster.example.com\n")
        untyped: Any = reactor
        files, runner = RealFiles(reactor_threads(untyped)), ReactorProcessRunner(untyped, untyped)
        processes = MachineProcesses(holder, program=lambda name: str(self.programs.path(name)))
        daemons = LocalDaemons(files, self.paths, runner, untyped, processes)
        self.daemon = OwnMetadataDaemon(self.paths, untyped, daemons)
        catalogue = OsCatalogue(files, self.paths.os_search_path)
        self.metadata = Metadata(files, self.paths, hypervisors, catalogue, self.daemon)

    def end(self, number: signal.Signals) -> None:
        """End the daemon, if it runs."""
        process = holder(self.paths.pid_file(METADATA))
        if process is not None:
            os.kill(process, number)
            until(lambda: is_gone(process), "the end of the daemon")


def free_port() -> int:
    """One at which nobody else listens for guests now."""
    with listening(NODE_ADDRESS, 0) as found:
        return int(found.getsockname()[1])
