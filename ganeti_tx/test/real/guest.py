"""A real virtual machine for tests: QEMU without KVM, its serial console read, its power button pressed."""

import os
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint, connectProtocol
from twisted.internet.error import ProcessDone
from twisted.internet.protocol import ProcessProtocol, Protocol
from twisted.python.failure import Failure
from twisted.trial.unittest import SkipTest

from ganeti_tx.runtime.reactor_process import ReactorProcessRunner

ROOT = Path(__file__).resolve().parents[3]
BUSYBOX_OS = ROOT / "etc" / "os" / "busybox"
CACHE = ROOT / ".cache" / "guest"
QEMU = "qemu-system-x86_64"
BOOT_LIMIT = 240.0  # seconds
MAKE_LIMIT = 400.0


async def make_guest() -> Path:
    """The directory with vmlinux and initrd.img, made once. @raise SkipTest: this machine cannot make them."""
    if which(QEMU) is None:
        raise SkipTest(f"{QEMU} is not installed")
    made = await ReactorProcessRunner(reactor, reactor).run(
        [str(BUSYBOX_OS / "make-guest"), str(CACHE)], timeout=MAKE_LIMIT
    )
    if not made.succeeded:
        raise SkipTest(f"no guest can be made: {made.describe()}")
    return CACHE


class Guest(ProcessProtocol):
    """One machine: `console` is all it said, `ended` fires with its exit status."""

    def __init__(self) -> None:
        self.console = b""
        self.ended: Deferred[int] = Deferred()
        self._wanted: list[tuple[bytes, Deferred[bytes]]] = []

    @classmethod
    def boot(cls, directory: Path, socket: Path, extra: Sequence[str] = ()) -> "Guest":
        """Start one from vmlinux and initrd.img in `directory`; `socket` will be its control socket."""
        guest = cls()
        guest.socket = socket
        argv = [QEMU, "-accel", "tcg", "-m", "128", "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"]
        argv += ["-kernel", str(directory / "vmlinux"), "-initrd", str(directory / "initrd.img")]
        argv += ["-append", "console=ttyS0,38400 quiet root=/dev/vda1 ro", "-qmp", f"unix:{socket},server=on,wait=off"]
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        guest.process = reactor.spawnProcess(guest, QEMU, [*argv, *extra], env)
        return guest

    socket: Path
    process: Any

    def wait_for(self, text: bytes) -> Deferred[bytes]:
        """Fires when the console has said it. Fails when the machine ends or the time is over."""
        said: Deferred[bytes] = Deferred()
        said.addTimeout(BOOT_LIMIT, reactor)
        self._wanted.append((text, said))
        self._look()
        return said

    async def press_power_button(self) -> None:
        """As a hypervisor asks a guest to stop."""
        control = await connectProtocol(UNIXClientEndpoint(reactor, str(self.socket)), Protocol())
        for command in (b"qmp_capabilities", b"system_powerdown"):
            control.transport.write(b'{"execute": "%s"}\n' % command)

    def type(self, line: bytes) -> None:
        """Type a line on the console."""
        self.process.write(line + b"\n")

    def kill(self) -> Deferred[int] | None:
        """Cut it off, if it still runs."""
        if self.ended.called:
            return None
        self.process.signalProcess("KILL")
        return self.ended

    def outReceived(self, data: bytes) -> None:
        """The console said something."""
        self.console += data
        self._look()

    def errReceived(self, data: bytes) -> None:
        """QEMU itself complains: for the reader of a failed test."""
        self.console += data

    def processEnded(self, reason: Failure) -> None:
        """It is gone."""
        for _text, said in self._wanted:
            if not said.called:
                said.errback(AssertionError(f"the machine ended; its console: {self.console[-2000:]!r}"))
        self._wanted = []
        self.ended.callback(0 if reason.check(ProcessDone) else 1)

    def _look(self) -> None:
        for text, said in self._wanted:
            if text in self.console and not said.called:
                said.callback(self.console)
        self._wanted = [(text, said) for text, said in self._wanted if not said.called]
