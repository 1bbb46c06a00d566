"""Where this node's daemons listen."""

from collections.abc import Callable

from attrs import define
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.model.ip_family import every_address, family_of_ssconf
from ganeti_tx.runtime.addresses import is_own_address
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.names import FAMILY_KEY, MAX_FAMILY_FILE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import Resolver
from ganeti_tx.runtime.threads import IThreads

ADDRESSES_KEY = "node_primary_ips"
MAX_ADDRESSES_FILE = 1024 * 1024


@define
class OwnAddress:
    """Found in the cluster's simple configuration, which says the family of addresses, too."""

    files: IFiles
    paths: Paths
    threads: IThreads
    clock: IReactorTime
    is_own: Callable[[str], bool] = is_own_address

    async def primary(self, name: str) -> str:
        """As the cluster knows the node of that name. Where it has another address by now, or the cluster does not know
        it, what its name means. @raise ResolverError: nothing.
        """
        lines = (line.split() for line in self._read(ADDRESSES_KEY, MAX_ADDRESSES_FILE).splitlines())
        known = dict(words for words in lines if len(words) == 2).get(name)
        if known is not None and self.is_own(known):
            return known
        resolver = Resolver(self.files, self.paths, self.threads, self.clock)
        return (await resolver.resolve(name))[1]

    def every(self) -> str:
        """What stands for all addresses of the machine."""
        return every_address(family_of_ssconf(self._read(FAMILY_KEY, MAX_FAMILY_FILE)))

    def _read(self, key: str, limit: int) -> str:
        """Nothing when the node is in no cluster."""
        try:
            return self.files.read(self.paths.ssconf_file(key), limit).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
