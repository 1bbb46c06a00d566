"""Which of very many jobs there are, in eight bytes each."""

from array import array
from collections.abc import Iterable, Sequence
from typing import overload

from attrs import frozen

from ganeti_tx.query.jobs import JobRef


@frozen
class JobRefs(Sequence[JobRef]):
    """All jobs in the order of their ids; the references are made when they are looked at.

    @ivar numbers: twice the id, one more for an archived job.
    """

    numbers: "array[int]"

    @classmethod
    def of(cls, live: Iterable[int], archived: Iterable[int]) -> "JobRefs":
        """Of live and archived jobs; one in both is live."""
        seen = set(live)
        numbers = [job_id * 2 for job_id in seen]
        numbers += (job_id * 2 + 1 for job_id in archived if job_id not in seen)
        numbers.sort()
        return cls(array("Q", numbers))

    @overload
    def __getitem__(self, index: int) -> JobRef: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[JobRef]: ...
    def __getitem__(self, index: int | slice) -> JobRef | Sequence[JobRef]:
        if isinstance(index, slice):
            return [_reference(number) for number in self.numbers[index]]
        return _reference(self.numbers[index])

    def __len__(self) -> int:
        return len(self.numbers)


def _reference(number: int) -> JobRef:
    return JobRef(number // 2, number % 2 == 1)
