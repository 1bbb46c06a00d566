"""Names to addresses for the event loop, which nothing may hold up."""

import errno
from collections.abc import Callable
from pathlib import Path
from socket import AddressFamily

from attrs import define
from twisted.internet.defer import TimeoutError as WaitedTooLong
from twisted.internet.interfaces import IReactorTime
from zope.interface import Interface, implementer

from ganeti_tx.errors import ResolverError
from ganeti_tx.model.ip_family import family_of_ssconf
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.names import FAMILY_KEY, MAX_FAMILY_FILE, MAX_HOSTS_FILE, found_here, look_up
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads

#: Seconds that the system may take.
LOOK_UP_LIMIT = 30.0


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
    ask_system: Callable[[str, AddressFamily], tuple[str, str]] = look_up

    async def resolve(self, name: str) -> tuple[str, str]:
        """See `IResolver`."""
        family = family_of_ssconf(self._read(self.paths.ssconf_file(FAMILY_KEY), MAX_FAMILY_FILE))
        found = found_here(name, self._read(self.paths.etc_hosts, MAX_HOSTS_FILE), family)
        if found is not None:
            return found
        asked = self.threads.run(self.ask_system, name, family)
        try:
            return await asked.addTimeout(LOOK_UP_LIMIT, self.clock)
        except WaitedTooLong:
            raise ResolverError(name, errno.ETIMEDOUT, f"no answer within {LOOK_UP_LIMIT:.0f} s") from None

    def _read(self, path: Path, limit: int) -> str:
        """Nothing when there is no such file."""
        try:
            return self.files.read(path, limit).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
