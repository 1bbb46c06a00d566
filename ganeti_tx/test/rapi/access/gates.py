"""A gate in memory, and ways to request something of it."""

import base64
from collections.abc import Mapping

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from ganeti_tx.rapi.access.composition import GateParts, make_gate
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.operations.operation import Call, Method, Operation
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads, IThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles

#: Seconds since the epoch at which the tests start: 2026-01-01.
NOW = 1767225600


def operation(resource: str, method: Method = "GET", *access: str) -> Operation:
    """One that gives nothing."""

    async def run(_call: Call) -> None: ...

    return Operation(method, f"/2/{resource}", resource, frozenset(access), run, "", {})


INFO = operation("info")
QUERY = operation("query", "PUT", "read", "write")
STARTUP = operation("instances_name_startup", "PUT", "write")
CREATE = operation("instances", "POST", "write")
INSTANCES = operation("instances", "GET")
STORAGE = operation("nodes_name_storage", "GET", "write")
OPERATIONS = (INFO, QUERY, STARTUP, CREATE, INSTANCES, STORAGE)


def basic(name: str, password: str) -> str:
    """The header of a password."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class MemoryGate:
    """A gate over files in memory."""

    def __init__(
        self, files: Mapping[str, str], require_authentication: bool = False, threads: IThreads | None = None
    ) -> None:
        self.clock = Clock()
        self.files = MemoryFiles()
        self.paths = Paths()
        self.files.mkdir(self.paths.rapi_dir)
        for name, text in files.items():
            self.write(name, text)
        gate_parts = GateParts(
            paths=self.paths, files=self.files, watch=MemoryFileWatch(self.files),
            threads=threads or InlineThreads(), clock=self.clock, entropy=SeededEntropy(),
            now=lambda: NOW + self.clock.seconds(),
        )  # fmt: skip
        self.gate = make_gate(gate_parts, OPERATIONS, require_authentication)

    def write(self, name: str, text: str) -> None:
        """Replace a file of rapi/."""
        ensureDeferred(self.files.write_atomic(self.paths.rapi_dir / name, text.encode()))

    def request(
        self, authorization: str | None, asked: Operation = STARTUP, peer: str = "192.0.2.1"
    ) -> Deferred[Caller]:
        """Ask to be let in."""
        return Deferred.fromCoroutine(self.gate.admit(authorization, peer, asked, {}))
