"""Who is next: the jobs that wait for a slot, in their order, and those that wait for other jobs."""

import heapq

from attrs import define, field

#: Priority, number of joining, job id; the lowest is first.
Place = tuple[int, int, int]


@define
class ReadyQueue:
    """The most urgent job is first; of equals the one that joined first (design-2.3, Worker pool)."""

    _heap: list[Place] = field(factory=list)
    _places: dict[int, Place] = field(factory=dict)
    _aside: dict[int, tuple[int, Place]] = field(factory=dict)
    _waiting_for: dict[int, set[int]] = field(factory=dict)
    _joined: int = 0

    def __contains__(self, job_id: int) -> bool:
        return job_id in self._places or job_id in self._aside

    def __len__(self) -> int:
        """How many jobs wait for a slot; those that wait for other jobs do not count."""
        return len(self._places)

    def join(self, job_id: int, priority: int) -> None:
        """Put a job behind those of its priority."""
        self._joined += 1
        self._put((priority, self._joined, job_id))

    def change_priority(self, job_id: int, priority: int) -> None:
        """Give a job that waits another priority; among its new equals its time of joining counts on."""
        if job_id in self._places:
            self._put((priority, self._places[job_id][1], job_id))
        elif job_id in self._aside:
            on, place = self._aside[job_id]
            self._aside[job_id] = on, (priority, place[1], job_id)

    def leave(self, job_id: int) -> None:
        """A job waits no more; one that does not wait is no error."""
        self._places.pop(job_id, None)
        if job_id in self._aside:
            on, _ = self._aside.pop(job_id)
            self._waiting_for[on].discard(job_id)

    def first(self) -> int | None:
        """The id of the job that is next; it stays in its place."""
        while self._heap:
            job_id = self._heap[0][2]
            if self._places.get(job_id) == self._heap[0]:
                return job_id
            heapq.heappop(self._heap)
        return None

    def block(self, job_id: int, on: int) -> None:
        """Let a job wait aside until something happened to another one, or to itself; its place is kept for it."""
        self._aside[job_id] = on, self._places.pop(job_id)
        self._waiting_for.setdefault(on, set()).add(job_id)

    def unblock(self, on: int) -> None:
        """Let those who waited for this job have their places back."""
        for job_id in self._waiting_for.pop(on, ()):
            self._put(self._aside.pop(job_id)[1])

    def _put(self, place: Place) -> None:
        self._places[place[2]] = place
        heapq.heappush(self._heap, place)
