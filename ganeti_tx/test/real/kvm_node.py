"""A node root with the real KVM driver, and the serial consoles of its instances."""

import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

from attrs import define
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol
from twisted.internet.task import deferLater
from twisted.python.filepath import FilePath
from twisted.trial.unittest import SkipTest

from ganeti_tx.node.hypervisor.kvm.driver import register
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout, instance_layout
from ganeti_tx.test.real.driver_node import DriverNode
from ganeti_tx.test.real.guest import BOOT_LIMIT, QEMU

#: What the driver keeps for all instances.
KEPT = frozenset({"acceleration", "probe-guest"})
#: Those that clusters give to displays.
DISPLAY_PORTS = range(11000, 14999)
SETTLE_LIMIT = 20.0  # seconds


@define
class KvmNode(DriverNode):
    """One node, and what is on it."""

    def __attrs_post_init__(self) -> None:
        if which(QEMU) is None:
            raise SkipTest(f"{QEMU} is not installed")
        super().__attrs_post_init__()

    def driver(self) -> KvmHypervisor:
        """As a daemon that starts now makes it."""
        return register(self)

    def layout(self, name: str) -> InstanceLayout:
        """The files of one instance."""
        return instance_layout(self.paths, name)

    def cdrom(self) -> dict[str, Any]:
        """The parameters with which an instance starts from an image that is there."""
        image = self.top / "cd.iso"
        image.write_bytes(bytes(1 << 20))
        return {"cdrom_image_path": str(image), "boot_order": "cdrom"}

    def processes(self) -> list[int]:
        """Every process whose arguments name this node's root."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    arguments = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if os.fsencode(self.top) + b"/" in arguments:
                    found.append(int(entry.name))
        return found

    def remains(self) -> list[str]:
        """Processes, and files in the run directory, that belong to instances."""
        files = [str(path) for path in self.paths.run_dir.rglob("*") if not path.is_dir() and path.name not in KEPT]
        nic_directories = [str(path) for path in self.paths.kvm_nic_dir.glob("*")]
        chroots = [str(path) for path in self.paths.kvm_chroot_dir.glob("*")]
        return sorted([*files, *nic_directories, *chroots, *(f"process {pid}" for pid in self.processes())])

    async def clear(self) -> None:
        """End what a failed test left, and remove the node."""
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        FilePath(str(self.top)).remove()


class SerialConsole(Protocol):
    """Everything a guest says on its serial console; `closed` fires when its instance has ended."""

    def __init__(self) -> None:
        self.said = b""
        self.closed: Deferred[None] = Deferred()
        self._wanted: list[tuple[bytes, int, Deferred[None]]] = []

    @classmethod
    async def of(cls, layout: InstanceLayout) -> "SerialConsole":
        """Connect to an instance that was just started."""
        console: SerialConsole = await connectProtocol(UNIXClientEndpoint(reactor, str(layout.serial)), cls())
        return console

    def wait_for(self, text: bytes, times: int = 1) -> Deferred[None]:
        """Fires when the guest has said it that often."""
        waiting: Deferred[None] = Deferred()
        waiting.addTimeout(BOOT_LIMIT, reactor)
        self._wanted.append((text, times, waiting))
        self._look()
        return waiting

    def type(self, line: bytes) -> None:
        """Type a line."""
        assert self.transport is not None
        self.transport.write(line + b"\n")

    def dataReceived(self, data: bytes) -> None:
        """The guest says something."""
        self.said += data
        self._look()

    def connectionLost(self, reason: object = None) -> None:
        """The instance has ended."""
        self.closed.callback(None)

    def _look(self) -> None:
        for text, times, waiting in self._wanted:
            if self.said.count(text) >= times and not waiting.called:
                waiting.callback(None)


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that is told by nobody."""
    clock: Any = reactor
    end = clock.seconds() + SETTLE_LIMIT
    while not true():
        assert clock.seconds() < end, "it did not come true in time"
        await deferLater(clock, 0.05)


def display_port() -> int:
    """A port that nobody uses now; each process looks from another one on."""
    first = os.getpid() * 61 % len(DISPLAY_PORTS)
    for port in (*DISPLAY_PORTS[first:], *DISPLAY_PORTS[:first]):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SkipTest("no port is free")


def thread_cpus(pid: int, name: str) -> list[set[int]]:
    """On which processors the threads of that name may run."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        if re.match(name, (task / "comm").read_text()):
            found.append(os.sched_getaffinity(int(task.name)))
    return found
