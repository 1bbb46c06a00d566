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
MAX_FAMILY_FILE = 100
#: Seconds that the system may take.
LOOK_UP_LIMIT = 30.0


def own_name(environ: Mapping[str, str] = os.environ) -> str:
    """This node's name: GANETI_HOSTNAME, or what the system says."""
    return environ.get(HOSTNAME_VARIABLE) or socket.getfqdn()


def family_of_version(ip_version: int) -> socket.AddressFamily:
    """IP version 4 or 6 as the system calls it."""
    return socket.AF_INET6 if ip_version == 6 else socket.AF_INET


def family_of_ssconf(text: str) -> socket.AddressFamily:
    """What the simple configuration has under "primary_ip_family": 2 or 10; either family when it has neither."""
    known = {"2": socket.AF_INET, "10": socket.AF_INET6}
    return known.get(text.strip(), socket.AF_UNSPEC)


def is_of_family(address: str, family: socket.AddressFamily) -> bool:
    """Whether an address is of a family; all are of the unspecified one."""
    return family == socket.AF_UNSPEC or (":" in address) == (family == socket.AF_INET6)


def parse_hosts(text: str, family: socket.AddressFamily = socket.AF_UNSPEC) -> dict[str, tuple[str, str]]:
    """Every name of a hosts file with its line's first name and its address; the first line that has a name counts.

    Lines with addresses of another family are none.
    """
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        address, *names = line.split("#", 1)[0].split() or [""]
        for name in names if is_of_family(address, family) else ():
            found.setdefault(name.lower(), (names[0], address))
    return found


def look_up(name: str, family: socket.AddressFamily = socket.AF_UNSPEC) -> tuple[str, str]:
    """Ask the system; blocks. @raise ResolverError: it knows no such host, or none with an address of the family."""
    try:
        answers = socket.getaddrinfo(name, None, family, type=socket.SOCK_STREAM, flags=socket.AI_CANONNAME)
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
    """Looks into the node's hosts file, then asks the system in a thread; for addresses of the cluster's family only."""

    files: IFiles
    paths: Paths
    threads: IThreads
    clock: IReactorTime
    ask_system: Callable[[str, socket.AddressFamily], tuple[str, str]] = look_up

    async def resolve(self, name: str) -> tuple[str, str]:
        """See `IResolver`."""
        try:
            return name, str(ipaddress.ip_address(name))
        except ValueError:
            pass
        family = self._family()
        if self.files.exists(self.paths.etc_hosts):
            text = self.files.read(self.paths.etc_hosts, MAX_HOSTS_FILE).decode("utf-8", "replace")
            hosts = parse_hosts(text, family)
            if name.lower() in hosts:
                return hosts[name.lower()]
        asked = self.threads.run(self.ask_system, name, family)
        try:
            return await asked.addTimeout(LOOK_UP_LIMIT, self.clock)
        except WaitedTooLong:
            raise ResolverError(name, errno.ETIMEDOUT, f"no answer within {LOOK_UP_LIMIT:.0f} s") from None

    def _family(self) -> socket.AddressFamily:
        try:
            text = self.files.read(self.paths.ssconf_file("primary_ip_family"), MAX_FAMILY_FILE)
        except FileNotFoundError:
            return socket.AF_UNSPEC  # no member of a cluster yet
        return family_of_ssconf(text.decode("ascii", "replace"))
