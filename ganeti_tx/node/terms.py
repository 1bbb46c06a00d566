"""Whose messages a node takes: those of the master with the highest term that it has heard of."""

from collections.abc import Collection

import attrs
from msgspec import structs
from twisted.internet.defer import DeferredLock

from ganeti_tx.mastership.term import Copy, MasterTerm, read_term, write_term
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.rpc.refusals import AnotherIsMaster
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: Of so many names the last sequence number is remembered; of the others the highest of all.
MAX_NAMES = 20_000


@attrs.define
class Terms:
    """The highest term on this disk, and the order of messages within it."""

    _files: IFiles
    _paths: Paths
    _held: MasterTerm | None = None
    _sequences: dict[str, int] = attrs.field(factory=dict)
    _floor: int = 0
    _lock: DeferredLock = attrs.field(factory=DeferredLock)

    def check(self, stamp: Stamp) -> None:
        """@raise AnotherIsMaster: another one took over from the master that sends, or is the master of the same term."""
        held = self._known()
        if held is not None and held.cluster == stamp.cluster and is_superseded(stamp, held.number, held.master):
            raise AnotherIsMaster(
                f"node {stamp.master} is not the master any more (term {stamp.term}): {held.master} is since term "
                f"{held.number}"
            )

    async def admit(self, stamp: Stamp | None) -> bool:
        """Take note of a master; gives whether its term is a new one here. A message without a stamp is not ordered.

        @raise AnotherIsMaster: as `check`.
        """
        if stamp is None:
            return False
        await self._lock.acquire()
        try:
            self.check(stamp)
            held = self._held
            if held is not None and held.cluster == stamp.cluster:
                if (stamp.term, stamp.master) == (held.number, held.master):
                    return False
            else:
                held = MasterTerm(cluster=stamp.cluster, master="", number=0)  # what is here is another cluster's
            term = structs.replace(held, master=stamp.master, number=stamp.term, boot="")
            await write_term(self._files, self._paths, term)
            self._begin()
            return True
        finally:
            self._lock.release()

    @property
    def latest(self) -> MasterTerm | None:
        """The highest term heard of."""
        return self._known()

    def _known(self) -> MasterTerm | None:
        """What the file says now: on the master its own daemons write it too."""
        held = read_term(self._files, self._paths)
        if self._held is not None and (
            held is None or (held.cluster, held.number) != (self._held.cluster, self._held.number)
        ):
            self._begin()
        self._held = held
        return held

    def _begin(self) -> None:
        """Sequence numbers of a former master say nothing about the next one's."""
        self._sequences, self._floor = {}, 0

    def is_newer(self, name: str, sequence: int | None) -> bool:
        """Whether nothing later is known of a name; the same again is taken again."""
        return sequence is None or sequence >= self._sequences.get(name, self._floor)

    def note(self, name: str, sequence: int | None) -> None:
        """So late is what is here of a name."""
        if sequence is None:
            return
        self._sequences.pop(name, None)
        self._sequences[name] = sequence
        if len(self._sequences) > MAX_NAMES:
            for old in list(self._sequences)[: MAX_NAMES // 2]:
                self._floor = max(self._floor, self._sequences.pop(old))

    def forget_before(self, sequence: int | None) -> Collection[str]:
        """Whatever was sent before this moment is late; gives the names of which there is something later."""
        if sequence is None:
            return ()
        self._sequences = {name: at for name, at in self._sequences.items() if at > sequence}
        self._floor = max(self._floor, sequence)
        return self._sequences.keys()

    def is_of_this_term(self, copy: Copy, stamp: Stamp | None) -> bool:
        """Whether a copy that is here was written in the term of a message, so that they can be compared.

        A former master's cannot: it may have gone on counting, and archiving, on its own.
        """
        held = self._known()
        return stamp is None or (held is not None and getattr(held, copy) >= stamp.term)

    async def written(self, copy: Copy, stamp: Stamp | None) -> None:
        """The copy of this term is here."""
        await self._lock.acquire()  # copies of several kinds come at the same time
        try:
            held = self._known()
            if stamp is not None and held is not None and getattr(held, copy) != stamp.term:
                await write_term(self._files, self._paths, structs.replace(held, **{copy: stamp.term}))
        finally:
            self._lock.release()


def is_superseded(stamp: Stamp, term: int, master: str) -> bool:
    """Whether a stamp is of an earlier master than this one, or of another one of the same term."""
    return stamp.term < term or (stamp.term == term and stamp.master != master)
