"""What stands between two nodes while xl sends a domain: a program that carries bytes, encrypted, from one xl to the other.

Both ends show a certificate that was made for this migration, and take the other one's only, so that nobody else can hand a node a
domain, or get one: no node that was removed either, nor anybody who has had the authority's key.
"""

import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import bracketed, host_port
from ganeti_tx.model.ip_family import family_of, version_of
from ganeti_tx.node.hypervisor.instance_record import write
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.record import Role, load_move
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner

#: Of socat: it waits so many seconds for the other direction's end, and for a connection.
LINGER, CONNECT = 30, 30
#: Seconds that who comes may be silent before it is known who that is; who sends goes on trying for as long as so many would be.
SILENCE, STRANGERS = 30, 3
#: Seconds without a byte in either direction after which who sends gives up: socat does not hang up on whom it takes for silent.
LOST = 300
#: Who waits goes on to when somebody else came, and takes nobody for a moment then; who sends tries again so often a second.
WAITS_ON, TRIES = "forever,interval=0.1", 2
COMMAND_TIMEOUT = 10.0
MAX_PID_FILE = 64
MAX_COMMAND_LINE = 1 << 16
#: Seconds until a process that was told to has ended, and between looks.
END_LIMIT = 30.0
PAUSE = 0.2


@frozen
class Relays:
    """The programs of migrations; they outlive the daemon that started them, and are known by what they are told."""

    files: IFiles
    runner: IProcessRunner
    clock: IReactorTime
    silence: int = SILENCE

    def listening(self, layout: DomainLayout, address: str, port: int, command: Sequence[str]) -> list[str]:
        """The command that waits at an address, and has another one's input and output carried."""
        family = version_of(family_of(address))
        place = f"OPENSSL-LISTEN:{port},pf=ip{family},bind={bracketed(address)},reuseaddr"
        options = f"{WAITS_ON},{heard_within(self.silence)},{trust(layout)}"
        return [*self._socat(layout), f"{place},{options}", f"EXEC:{' '.join(command)}"]

    def connecting(self, layout: DomainLayout, address: str, port: int) -> list[str]:
        """The command that carries its own input and output to an address."""
        tries = f"retry={STRANGERS * self.silence * TRIES},interval={1 / TRIES}"
        place = f"OPENSSL:{host_port(address, port)},connect-timeout={CONNECT},no-sni=1,{tries},{trust(layout)}"
        return [*self._socat(layout), f"-T{LOST}", "STDIO", place]

    def _socat(self, layout: DomainLayout) -> list[str]:
        return ["socat", "-d", "-d", f"-t{LINGER}", f"-L{layout.relay}"]

    def is_alive(self, pid: int, layout: DomainLayout) -> bool:
        """Whether a process is there that belongs to this instance's migration."""
        try:
            told = self.files.read(Path(f"/proc/{pid}/cmdline"), MAX_COMMAND_LINE)
        except OSError:
            return False
        return str(layout.relay).encode() in told

    async def end(self, layout: DomainLayout) -> None:
        """Have it end, whereupon xl gives up what it sends or takes in; nothing happens when there is none.

        @raise HypervisorError: it does not end.
        """
        for pid in self._pids(layout):
            if not self.is_alive(pid, layout):
                continue
            await self.runner.run(["kill", "-TERM", str(pid)], timeout=COMMAND_TIMEOUT)
            if not await self.has_ended(pid, layout, END_LIMIT):
                raise HypervisorError(
                    f"process {pid}, which carries a migration of instance {layout.name}, does not end"
                )

    def _pids(self, layout: DomainLayout) -> set[int]:
        """Socat writes its own into a file once it has got so far; one that waits, or will, is known from the beginning."""
        layout.check_own(self.files)
        move = load_move(self.files, layout)
        found = {move.pid} if move is not None and move.role is Role.INCOMING else set()
        with suppress(OSError):
            text = self.files.read(layout.relay, MAX_PID_FILE).decode("ascii", "replace").strip()
            found |= {int(text)} if text.isdigit() else set()
        return found

    async def has_ended(self, pid: int, layout: DomainLayout, limit: float) -> bool:
        """Whether a process ends within so many seconds."""
        until = self.clock.seconds() + limit
        while self.is_alive(pid, layout):
            if self.clock.seconds() >= until:
                return False
            await deferLater(self.clock, PAUSE)
        return True


async def give_keys(files: IFiles, layout: DomainLayout, pair: TlsPair) -> None:
    """Where the program finds them. @raise HypervisorError: the disk does not take them."""
    layout.check_own(files)
    for path, data in ((layout.own_key, pair.own.bundle), (layout.peer, pair.peer)):
        await write(files, path, data)


def heard_within(seconds: int) -> str:
    """What socat is told so that reading ends without a word; once it carries, it reads what is there, be it a part."""
    return f"setsockopt={socket.SOL_SOCKET}:{socket.SO_RCVTIMEO}:x{struct.pack('@ll', seconds, 0).hex()}"


def trust(layout: DomainLayout) -> str:
    """What socat is told of them; the name is not compared: there is one certificate that it takes."""
    return f"cert={layout.own_key},cafile={layout.peer},verify=1,openssl-commonname=,openssl-min-proto-version=TLS1.2"
