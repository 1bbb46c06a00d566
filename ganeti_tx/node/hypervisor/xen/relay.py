"""What stands between two nodes while xl sends a domain: a program that carries bytes, encrypted, from one xl to the other.

Both ends show the node's own certificate and take only those of the cluster's authority, so that nobody else can hand a node a
domain, or get one.
"""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import bracketed, host_port
from ganeti_tx.model.ip_family import family_of, version_of
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

#: Of socat: it waits so many seconds for the other direction's end, and for a connection.
LINGER, CONNECT = 30, 30
COMMAND_TIMEOUT = 10.0
MAX_PID_FILE = 64
MAX_COMMAND_LINE = 1 << 16
#: Seconds until a process that was told to has ended, and between looks.
END_LIMIT = 30.0
PAUSE = 0.2


@frozen
class Relays:
    """The programs of migrations; they outlive the daemon that started them, and are known by what they are told."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    clock: IReactorTime

    def listening(self, layout: DomainLayout, address: str, port: int, command: Sequence[str]) -> list[str]:
        """The command that waits at an address, and has another one's input and output carried."""
        family = version_of(family_of(address))
        place = f"OPENSSL-LISTEN:{port},pf=ip{family},bind={bracketed(address)},reuseaddr,{self._trust(self.paths.server_pem)}"
        return [*self._socat(layout), place, f"EXEC:{' '.join(command)}"]

    def connecting(self, layout: DomainLayout, address: str, port: int) -> list[str]:
        """The command that carries its own input and output to an address."""
        place = f"OPENSSL:{host_port(address, port)},connect-timeout={CONNECT},no-sni=1,{self._trust(self.paths.client_pem)}"
        return [*self._socat(layout), "STDIO", place]

    def _socat(self, layout: DomainLayout) -> list[str]:
        return ["socat", "-d", "-d", f"-t{LINGER}", f"-L{layout.relay}"]

    def _trust(self, own: Path) -> str:
        """The certificates; their names are not compared: whom the authority has signed is a node of this cluster."""
        return f"cert={own},cafile={self.paths.authority_pem},verify=1,openssl-commonname=,openssl-min-proto-version=TLS1.2"

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
        pid = self._pid(layout)
        if pid is None or not self.is_alive(pid, layout):
            return
        await self.runner.run(["kill", "-TERM", str(pid)], timeout=COMMAND_TIMEOUT)
        if not await self.has_ended(pid, layout, END_LIMIT):
            raise HypervisorError(f"process {pid}, which carries a migration of instance {layout.name}, does not end")

    def _pid(self, layout: DomainLayout) -> int | None:
        layout.check_own(self.files)
        try:
            text = self.files.read(layout.relay, MAX_PID_FILE).decode("ascii", "replace").strip()
        except OSError:
            return None
        return int(text) if text.isdigit() else None

    async def has_ended(self, pid: int, layout: DomainLayout, limit: float) -> bool:
        """Whether a process ends within so many seconds."""
        until = self.clock.seconds() + limit
        while self.is_alive(pid, layout):
            if self.clock.seconds() >= until:
                return False
            await deferLater(self.clock, PAUSE)
        return True
