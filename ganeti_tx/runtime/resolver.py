"""Names to addresses: the node's own hosts file first, then the system's resolver."""

import errno
import ipaddress
import os
import socket
from collections.abc import Callable, Mapping

from attrs import define
from twisted.internet.defer import TimeoutError as WaitedTooLong
from twisted.internet.interfaces import IReactorTime
from zope.interface import Interface, implementer

from ganeti_tx.errors import ResolverError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

HOSTNAME_VARIABLE = "GANETI_HOSTNAME"
MAX_HOSTS_FILE = 4 * 1024 * 1024
#: Seconds that the system may take.
LOOK_UP_LIMIT = 30.0


def own_name(environ: Mapping[str, str] = os.environ) -> str:
    """This node's name: GANETI_HOSTNAME, or what the system says."""
    return environ.get(HOSTNAME_VARIABLE) or socket.getfqdn()


def parse_hosts(text: str) -> dict[str, tuple[str, str]]:
    """Every name of a hosts file with its line's first name and its address; the first line that has a name counts."""
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        address, *names = line.split("#", 1)[0].split() or [""]
        for name in names:
            found.setdefault(name.lower(), (names[0], address))
    return found


def look_up(name: str) -> tuple[str, str]:
    """Ask the system; blocks. @raise ResolverError: it knows no such host."""
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_CANONNAME)
    except (socket.gaierror, UnicodeError) as error:
        code = error.errno if isinstance(error, socket.gaierror) else None
        raise ResolverError(name, code, getattr(error, "strerror", None) or str(error))
    return answers[0][3] or name, str(answers[0][4][0])


class IResolver(Interface):
    """Finds hosts by name."""

    async def resolve(name: str) -> tuple[str, str]:
        """A host's full name and its address; an address is its own. @raise ResolverError: there is no such host."""


@implementer(IResolver)
@define
class Resolver:
    """Looks into the node's hosts file, then asks the system in a thread."""

    files: IFiles
    paths: Paths
    threads: IThreads
    clock: IReactorTime
    ask_system: Callable[[str], tuple[str, str]] = look_up

    async def resolve(self, name: str) -> tuple[str, str]:
        """See `IResolver`."""
        try:
            return name, str(ipaddress.ip_address(name))
        except ValueError:
            pass
        if self.files.exists(self.paths.etc_hosts):
            hosts = parse_hosts(self.files.read(self.paths.etc_hosts, MAX_HOSTS_FILE).decode("utf-8", "replace"))
            if name.lower() in hosts:
                return hosts[name.lower()]
        asked = self.threads.run(self.ask_system, name)
        try:
            return await asked.addTimeout(LOOK_UP_LIMIT, self.clock)
        except WaitedTooLong:
            raise ResolverError(name, errno.ETIMEDOUT, f"no answer within {LOOK_UP_LIMIT:.0f} s") from None
