"""What jobs are judged by: the instances that they are about, and whose they are.

To find it out means to read the files of jobs, and it stays so as long as a job is there. So it is remembered, for all callers.
"""

from collections.abc import Sequence
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.model.opcodes.named import instances_of
from ganeti_tx.model.signature import Asker, Ops, scoped_askers_of
from ganeti_tx.rapi.asking.recording import Luxi, Recording
from ganeti_tx.rapi.caller import Caller

#: The fields that tell a job from all others, also from one that had its number before a queue was lost.
KEY_FIELDS = ("id", "received_ts")
Key = tuple[int, str]
#: Of so many listed jobs the opcodes are read in one piece: others are answered between two, and memory is needed for one only.
AT_ONCE = 500


@frozen
class JudgedJob:
    """What does not change about a job.

    @ivar instances: the names that each of its opcodes has for instances.
    @ivar askers: the callers with scopes who asked for it.
    """

    instances: tuple[tuple[str, ...], ...]
    askers: set[Asker]

    def is_own(self, caller: Caller) -> bool:
        """Whether the caller himself asked for it, kept to no more than now: before that, or as another who was called so, he may
        have asked for what is not his to see.
        """
        return any(asker.name == caller.name and asker.scopes <= caller.scopes for asker in self.askers)

    def is_seen(self, caller: Caller, inside: set[str]) -> bool:
        """Whether it is the caller's own, or all its instances are in his scopes. @param inside: those that are."""
        return self.is_own(caller) or (
            bool(self.instances) and all(names and inside.issuperset(names) for names in self.instances)
        )


def judged(ops: Ops | None) -> JudgedJob:
    """A job by its opcodes; of one that is not there nothing is known, and nobody sees it."""
    listed = ops or ()
    return JudgedJob(tuple(tuple(instances_of(op)) for op in listed), scoped_askers_of(listed))


@define(eq=False)
class RememberedJobs:
    """What was found out so far; of jobs that are not listed any more it is forgotten."""

    luxi: Luxi
    _known: dict[Key, JudgedJob] = field(factory=dict, init=False)
    #: Held by who finds something out: who comes meanwhile need not read the same.
    _turn: DeferredLock = field(factory=DeferredLock, init=False)

    async def of(self, listed: Sequence[Sequence[Any]]) -> list[JudgedJob]:
        """Each of all jobs that are listed. @param listed: their `KEY_FIELDS`."""
        keys = [key_of(*row) for row in listed]
        async with self._turn:
            await self._find_out(sorted(keys))
            known = self._known
            self._known = {key: known[key] for key in keys if key in known}
            return [known.get(key) or judged(None) for key in keys]

    async def of_numbers(self, numbers: Sequence[int]) -> list[JudgedJob]:
        """Each of at most `AT_ONCE` jobs, archived or not. It is not remembered, for the archive grows without end."""
        return [judged(ops) for ops in await self._read(numbers)]

    async def _read(self, numbers: Sequence[int]) -> list[Any]:
        """The opcodes of each; None for one that is gone, or whose file cannot be read, which keeps nobody from the others."""
        try:
            rows = await Recording(self.luxi).query_jobs(numbers, ["ops"])
        except JobFileCorrupted:
            if len(numbers) == 1:
                return [None]
            half = len(numbers) // 2
            return [*await self._read(numbers[:half]), *await self._read(numbers[half:])]
        return [ops for (ops,) in rows]

    async def _find_out(self, keys: Sequence[Key]) -> None:
        """All that is not known of these; mostly it is the newest."""
        for start in range(0, len(keys), AT_ONCE):
            numbers = [key[0] for key in keys[start : start + AT_ONCE] if key not in self._known]
            if numbers:
                self._known.update(await self._found_out(numbers[0], numbers[-1]))

    async def _found_out(self, first: int, last: int) -> dict[Key, JudgedJob]:
        """Of all from one number to another: it is asked for without recording, as it need not be asked again."""
        within = ["&", [">=", "id", first], ["<=", "id", last]]
        answer = await Recording(self.luxi).query("job", [*KEY_FIELDS, "ops"], within)
        rows = [[value for _status, value in row] for row in answer["data"]]
        return {key_of(job_id, received): judged(ops) for job_id, received, ops in rows if ops is not None}


def key_of(job_id: int, received: Any) -> Key:
    """What it is remembered under."""
    return job_id, str(received)
