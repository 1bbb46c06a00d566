"""A real socket that leads to the master daemon of a cluster in this process, for programs that speak LUXI."""

import selectors
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field
from twisted.internet.protocol import ClientFactory, Protocol

from ganeti_tx.luxi.framing import TERMINATOR
from ganeti_tx.test.inprocess.cluster import InProcessCluster

#: Seconds for a program.
LIMIT = 120.0
#: Simulated seconds that pass at a time while an answer is awaited, how often, and after it, for the jobs that were submitted.
STEP, STEPS, AFTER = 0.05, 2000, 60.0
PIECE = 1 << 16


class Inner(Protocol):
    """The end within the cluster; keeps what is said until it is taken."""

    def __init__(self) -> None:
        self.said = b""

    def dataReceived(self, data: bytes) -> None:
        """See Protocol."""
        self.said += data

    def taken(self) -> bytes:
        """What has been said since the last time."""
        said, self.said = self.said, b""
        return said


class Entrance(ClientFactory):
    """Has one connection."""

    noisy = False

    def __init__(self, inner: Inner) -> None:
        self._inner = inner

    def buildProtocol(self, addr: object) -> Inner:
        """See ClientFactory."""
        return self._inner


@define
class LuxiDoor:
    """The socket is below `directory`; simulated time passes only while a program asks."""

    cluster: InProcessCluster
    directory: Path
    _inner: dict[socket.socket, Inner] = field(factory=dict, init=False)

    @property
    def path(self) -> Path:
        """Of the socket."""
        return self.directory / "luxi"

    def run(self, argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """A program to its end; it connects as often as it wants. @raise AssertionError: it does not end in time."""
        with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
            listener.bind(str(self.path))
            listener.listen()
            selector.register(listener, selectors.EVENT_READ)
            out, err = (self.directory / name for name in ("out", "err"))
            with out.open("wb") as to_out, err.open("wb") as to_err:
                process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_err)
            try:
                self._serve(process, listener, selector)
            finally:
                process.kill()
                process.wait()
                for each in self._inner:
                    each.close()
                self._inner.clear()
                self.path.unlink()
        return subprocess.CompletedProcess(argv, process.returncode, out.read_text(), err.read_text())

    def _serve(
        self, process: "subprocess.Popen[bytes]", listener: socket.socket, selector: selectors.BaseSelector
    ) -> None:
        deadline = time.monotonic() + LIMIT
        while process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"{process.args!r} did not end within {LIMIT} seconds")
            for key, _ in selector.select(0.05):
                if isinstance(key.data, socket.socket):
                    self._pass_on(key.data, selector)
                else:
                    self._open(listener, selector)

    def _open(self, listener: socket.socket, selector: selectors.BaseSelector) -> None:
        outer, _ = listener.accept()
        inner = Inner()
        caller = self.cluster.new_process("program")
        caller.connectUNIX(str(self.cluster.paths.query_socket), Entrance(inner))
        self.cluster.pass_time(STEP)
        self._inner[outer] = inner
        selector.register(outer, selectors.EVENT_READ, outer)

    def _pass_on(self, outer: socket.socket, selector: selectors.BaseSelector) -> None:
        """What the program says goes in; after the end of a request, the answer comes out."""
        inner = self._inner[outer]
        said = outer.recv(PIECE)
        if not said:
            selector.unregister(outer)
            return
        assert inner.transport is not None
        inner.transport.write(said)
        if not said.endswith(TERMINATOR):
            return
        answer = self._answer(inner)
        self.cluster.pass_time(AFTER)
        outer.sendall(answer)

    def _answer(self, inner: Inner) -> bytes:
        answer = b""
        for _ in range(STEPS):
            self.cluster.pass_time(STEP)
            answer += inner.taken()
            if answer.endswith(TERMINATOR):
                return answer
        raise AssertionError(f"no answer but {answer[:100]!r}")
