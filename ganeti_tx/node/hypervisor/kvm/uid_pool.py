"""User ids lent to machines, one each, so that no machine can touch another's process."""

import re
from collections.abc import Iterator

from attrs import field, frozen
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

LIMIT = 64 << 10
MAX_RANGE = 100_000
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def parse_pool(text: str) -> list[tuple[int, int]]:
    """Ranges as "1000-1005" or "1000", apart by commas or lines. @raise HypervisorError: anything else, or root."""
    ranges = []
    for part in re.split(r"[,\s]+", text.strip()):
        if not part:
            continue
        found = _RANGE.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 0 < first <= last < first + MAX_RANGE:
            raise HypervisorError(f"the uid pool has {part!r}, which is no range of user ids")
        ranges.append((first, last))
    return ranges


@frozen
class UidPool:
    """Lends ids of the cluster's pool; a file for each lent id keeps it over a restart of the daemon."""

    paths: Paths
    files: IFiles
    _turn: DeferredLock = field(factory=DeferredLock, init=False)

    async def lend(self, borrower: str) -> int:
        """An id nobody has. @raise HypervisorError: none is left, or the cluster has no pool."""
        async with self._turn:  # two that start at the same time must not get the same
            self.files.mkdir(self.paths.uid_pool_dir, 0o755)
            lent = set(self.files.listdir(self.paths.uid_pool_dir))
            for uid in self._ids():
                if str(uid) not in lent:
                    await self.files.write_atomic(self.paths.uid_pool_dir / str(uid), borrower.encode(), sync=False)
                    return uid
        raise HypervisorError("security_model pool: no user id is left in the cluster's uid pool (gnt-cluster modify)")

    def give_back(self, uid: int) -> None:
        """The id is free again; giving back twice is no error."""
        try:
            self.files.remove(self.paths.uid_pool_dir / str(uid))
        except FileNotFoundError:
            pass

    def _ids(self) -> Iterator[int]:
        try:
            text = self.files.read(self.paths.ssconf_file("uid_pool"), LIMIT).decode("ascii", "replace")
        except FileNotFoundError:
            return
        for first, last in parse_pool(text):
            yield from range(first, last + 1)
