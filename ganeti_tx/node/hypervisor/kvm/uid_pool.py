"""User ids lent to instances, one each, so that no instance can touch another's process (design-2.1, "User-id pool")."""

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

from attrs import field, frozen

from ganeti_tx.errors import HypervisorError, LockError
from ganeti_tx.runtime.entropy import IEntropy
from ganeti_tx.runtime.file_lock import HeldFile, hold
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

LIMIT = 64 << 10
#: More than there are processes on a machine.
MOST_TRIED = 100_000
#: The last user id there is; the one above it means "unchanged" to the kernel.
MAX_UID = 2**32 - 2
DIRECTORY_MODE = 0o750
LOCK_MODE = 0o600
NO_POOL = "security_model: pool, but the cluster has no pool of user ids; 'gnt-cluster modify --uid-pool' makes one"
_RANGE = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?")


def parse_pool(text: str) -> list[range]:
    """Ranges as "1000-1005" or "1000", apart by commas or lines, without what no instance may have: root's id, and the last number.

    @raise HypervisorError: anything else.
    """
    ranges = []
    for part in re.split(r"[,\s]+", text.strip()):
        if not part:
            continue
        found = _RANGE.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= MAX_UID + 1:
            raise HypervisorError(f"the uid pool has {part!r}, which is no range of user ids")
        ranges.append(range(max(first, 1), min(last, MAX_UID) + 1))
    return ranges


def some_of(ranges: Sequence[range], chance: random.Random) -> list[int]:
    """All ids in random order, or so many of them that one of these is free on any machine."""
    ends = list(accumulate(len(each) for each in ranges))
    total = ends[-1] if ends else 0

    def id_at(position: int) -> int:
        number = bisect_right(ends, position)
        return ranges[number][position - ends[number]]

    return [id_at(position) for position in chance.sample(range(total), min(total, MOST_TRIED))]


@frozen
class UidPool:
    """Lends ids of the cluster's pool that no process has.

    A lock file an id makes what happens between the look at the processes and the start of the new one safe from
    everybody who does the same. A file that is there without a lock says only that its id is probably in use: such ids
    are tried last, so a file that was left behind loses no id, and one that is missing lends none twice.
    """

    paths: Paths
    files: IFiles
    entropy: IEntropy
    #: The user ids of all processes of this machine.
    ids_in_use: Callable[[], frozenset[int]]
    lock: Callable[[Path, int], HeldFile] = field(default=hold)

    @property
    def is_empty(self) -> bool:
        """Whether the cluster has none. @raise HypervisorError: what it has cannot be read."""
        return not any(self._ranges())

    @contextmanager
    def lent(self) -> Iterator[int]:
        """A random id that nobody has, kept from others while a process is started that will have it.

        It is given back when that fails. @raise HypervisorError: none is left, or the cluster has no pool.
        """
        self.files.mkdir(self.paths.uid_pool_dir, DIRECTORY_MODE)
        uid, lock = self._free_one()
        started = False
        try:
            yield uid
            started = True
        finally:
            if not started:
                self._remove(uid)
            lock.release()

    def give_back(self, uid: int) -> None:
        """Nobody need look for a process with this id any more; giving back twice is no error."""
        try:
            lock = self.lock(self._file(uid), LOCK_MODE)
        except (FileNotFoundError, LockError):  # lent anew already, for an instance that is being started
            return
        self._remove(uid)
        lock.release()

    def _free_one(self) -> tuple[int, HeldFile]:
        ids, in_use = self._ids_by_hope(), self.ids_in_use()
        for uid in ids:
            if uid not in in_use and (lock := self._locked(uid)) is not None:
                return uid, lock
        raise HypervisorError(
            f"security_model: pool, but all {len(ids)} user ids of the cluster's pool are in use here; more come by "
            "'gnt-cluster modify --add-uids'"
            if ids
            else NO_POOL
        )

    def _locked(self, uid: int) -> HeldFile | None:
        try:
            lock = self.lock(self._file(uid), LOCK_MODE)
        except LockError:
            return None
        if uid in self.ids_in_use():  # somebody had it locked until now
            lock.release()
            return None
        return lock

    def _remove(self, uid: int) -> None:
        try:
            self.files.remove(self._file(uid))
        except FileNotFoundError:
            pass

    def _file(self, uid: int) -> Path:
        return self.paths.uid_pool_dir / str(uid)

    def _ids_by_hope(self) -> list[int]:
        """Ids in random order, those last that have a lock file."""
        ids = some_of(self._ranges(), random.Random(self.entropy.random_bytes(16)))
        marked = set(self.files.listdir(self.paths.uid_pool_dir))
        return sorted(ids, key=lambda uid: str(uid) in marked)

    def _ranges(self) -> list[range]:
        try:
            text = self.files.read(self.paths.ssconf_file("uid_pool"), LIMIT).decode("ascii", "replace")
        except FileNotFoundError:
            return []
        return parse_pool(text)
