"""Jobs that only find something out, which GET submits: equal ones of one caller are one job while it is open, and those of
nobody in particular are few, since everybody may ask for them. Who may have no new job is answered by one that has just ended,
so that a program that looks every few seconds misses nothing.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

import msgspec
from attrs import define, field, frozen
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.model.opcodes import Disclosure, OpCode, encode
from ganeti_tx.model.opcodes.types import FinalStatus
from ganeti_tx.rapi.access.keyed_lock import KeyedLock
from ganeti_tx.rapi.access.throttle import Counts, network_of
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.http.http_errors import HttpError

#: Jobs remembered; of one that is evicted the next equal question submits another.
MOST_REMEMBERED = 1000
#: Jobs without a caller's name that may be open at a time, and the seconds after which another try may be of use.
MOST_OPEN, LATER = 20, 5
#: Such jobs of one address at once, and the seconds after which it may have one more.
ADDRESS_JOBS, ADDRESS_REFILL = 30, 5.0
#: The same for all addresses together.
ALL_JOBS, ALL_REFILL = 100, 2.0
ALL = ""
#: Seconds for which a job answers those who may have no newer one.
RECENT = 60.0
#: Addresses remembered.
ADDRESSES = 10_000


@frozen
class Known:
    """The last job with some question, and when it was submitted."""

    job_id: int
    submitted: float


@define(eq=False)
class QuestionJobs:
    """What was submitted so, by this daemon."""

    clock: IReactorTime
    _known: OrderedDict[Hashable, Known] = field(factory=OrderedDict, init=False)
    _nameless: set[int] = field(factory=set, init=False)
    _under_way: int = field(default=0, init=False)
    _lock: KeyedLock = field(factory=KeyedLock, init=False)
    _addresses: Counts = field(init=False)
    _all: Counts = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._addresses = Counts(self.clock, ADDRESS_JOBS, ADDRESS_REFILL, ADDRESSES)
        self._all = Counts(self.clock, ALL_JOBS, ALL_REFILL, 1)

    async def submit(self, luxi: AsyncCalls, caller: Caller, address: str, op: OpCode) -> int:
        """The id of a job with the opcode that is open, or of a new one; of one of the last minute where no new one may be.

        @raise HttpError: 429 or 503 with Retry-After, there are too many for callers without a name.
        """
        key = question_of(caller, op)
        async with self._lock.held(key):
            known = self._known.get(key)
            if known is not None and await open_jobs(luxi, [known.job_id]):
                self._known.move_to_end(key)
                return known.job_id
            now = self.clock.seconds()
            try:
                job_id = await self._submit(luxi, caller, address, op)
            except HttpError:
                if known is None or now - known.submitted > RECENT:
                    raise
                return known.job_id
            self._remember(key, Known(job_id, now))
        return job_id

    async def _submit(self, luxi: AsyncCalls, caller: Caller, address: str, op: OpCode) -> int:
        ops = [encode(op, Disclosure.WIRE)]
        if caller.name is not None:
            return await luxi.submit_job(ops)
        self._check_rate(network_of(address))
        with self._place():
            if len(self._nameless) + self._under_way > MOST_OPEN:
                looked_at = sorted(self._nameless)
                self._nameless.difference_update(set(looked_at) - await open_jobs(luxi, looked_at))
                if len(self._nameless) + self._under_way > MOST_OPEN:
                    raise too_many(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_OPEN} jobs of theirs are open", LATER)
            job_id = await luxi.submit_job(ops)
            self._nameless.add(job_id)
        return job_id

    def _check_rate(self, address: str) -> None:
        for counts, key in ((self._addresses, address), (self._all, ALL)):
            if wait := counts.wait(key):
                raise too_many(HTTPStatus.TOO_MANY_REQUESTS, "too many jobs of theirs in a short time", int(wait) + 1)
        self._addresses.add(address)
        self._all.add(ALL)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Count one that is just being submitted."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def _remember(self, key: Hashable, known: Known) -> None:
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)


def question_of(caller: Caller, op: OpCode) -> Hashable:
    """What makes two questions equal: the opcode but for its reasons, and who asks, with whose rights the job goes."""
    plain = encode(msgspec.structs.replace(op, reason=()), Disclosure.WIRE)
    return msgspec.json.encode(plain, order="sorted"), caller


async def open_jobs(luxi: AsyncCalls, job_ids: list[int]) -> set[int]:
    """Those of the jobs that wait or run."""
    if not job_ids:
        return set()
    rows = await luxi.query_jobs(job_ids, ["id", "status"])
    return {job_id for job_id, status in rows if status is not None and status not in set(FinalStatus)}


def too_many(status: HTTPStatus, why: str, wait: int) -> HttpError:
    """Who gives his name is not kept waiting."""
    text = f"callers without a name must wait: {why}; try again in {wait} seconds, or give a name and password"
    return HttpError(status, text, {"Retry-After": str(wait)})
