"""Names of locks: the levels, the one linear order over all locks, and how a lock is spelled."""

from __future__ import annotations

from enum import Enum, IntEnum
from functools import total_ordering

import attrs

from ganeti_tx.errors import LockError

#: What stands for the name where a whole level is meant.
LOCKSET = "[lockset]"
#: Longest name of a lock, in characters: host names end at 255, UUIDs at 36.
MAX_NAME = 255


class Level(IntEnum):
    """The levels of locks, in the order in which they must be taken."""

    CLUSTER = 0
    INSTANCE = 1
    NODE_ALLOC = 2
    NODEGROUP = 3
    NODE = 4
    NODE_RES = 5
    NETWORK = 6

    @property
    def wire_name(self) -> str:
        """The level as WConfD spells it, such as "node-alloc"."""
        return self.name.lower().replace("_", "-")


_LEVELS = {level.wire_name: level for level in Level}
#: Levels that have one lock of a fixed name.
_ONLY_NAME = {Level.CLUSTER: "BGL", Level.NODE_ALLOC: "NAL"}


class Mode(Enum):
    """How a lock is held; the values are WConfD's words."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"

    def covers(self, other: Mode) -> bool:
        """Whether who holds this mode has no need to ask for the other."""
        return self is Mode.EXCLUSIVE or other is Mode.SHARED

    def conflicts(self, other: Mode) -> bool:
        """Whether two owners may not hold these modes of one lock at a time."""
        return self is Mode.EXCLUSIVE or other is Mode.EXCLUSIVE


def _check_name(lock: Lock, _attribute: object, name: str | None) -> None:
    only = _ONLY_NAME.get(lock.level)
    if name is None:
        if lock.level is Level.CLUSTER:
            raise LockError(f"there is no lock over the whole level cluster, only cluster/{only}")
    elif not 0 < len(name) <= MAX_NAME or name == LOCKSET:
        raise LockError(f"not a name for a lock: {name[: MAX_NAME + 1]!r}; allowed are 1 to {MAX_NAME} characters")
    elif only is not None and name != only:
        raise LockError(f"no such lock: {lock.level.wire_name}/{name}; the level has only {only}")


@total_ordering
@attrs.frozen(order=False, cache_hash=True)
class Lock:
    """One lock; without a name it is the group lock over its whole level.

    Locks are ordered by level, then the group lock, then by name, so that all locks between a group lock and one of
    its members are members too (daemons.txt, Locking).

    @raise LockError: the name cannot be a lock's name on that level.
    """

    level: Level
    name: str | None = attrs.field(default=None, validator=_check_name)

    @classmethod
    def all(cls, level: Level) -> Lock:
        """The group lock over every lock of a level, those that do not exist yet included."""
        return cls(level)

    @classmethod
    def parse(cls, text: str) -> Lock:
        """Read WConfD's spelling, such as "instance/web1" or "node/[lockset]".

        @raise LockError: the text names no lock.
        """
        word, slash, name = text.partition("/")
        if not slash or word not in _LEVELS:
            raise LockError(f"not a lock: {text[:MAX_NAME]!r}; expected LEVEL/NAME, LEVEL one of {', '.join(_LEVELS)}")
        return cls(_LEVELS[word], None if name == LOCKSET else name)

    @property
    def is_set(self) -> bool:
        """Whether this is the group lock of its level."""
        return self.name is None

    @property
    def group(self) -> Lock | None:
        """The group lock that this lock belongs to; none for a group lock itself, and none for the big lock."""
        return None if self.name is None else _GROUPS.get(self.level)

    def overlaps(self, other: Lock) -> bool:
        """Whether holding one acts on the other: they are the same, or one is the other's group lock."""
        return self.level is other.level and (self.name is None or other.name is None or self.name == other.name)

    def __lt__(self, other: Lock) -> bool:
        return (self.level, self.name or "") < (other.level, other.name or "")

    def __str__(self) -> str:
        return f"{self.level.wire_name}/{LOCKSET if self.name is None else self.name}"


_GROUPS: dict[Level, Lock] = {level: Lock(level) for level in Level if level is not Level.CLUSTER}

#: The Big Ganeti Lock: a plain lock at the first level, held shared by every job that does not need the cluster alone.
BGL = Lock(Level.CLUSTER, "BGL")
#: Held while an allocator chooses nodes, so that two allocations do not count on the same free space.
NAL = Lock(Level.NODE_ALLOC, "NAL")
