"""Where the filter rules meet the queue: a job that is next may start, is set aside, or is ended."""

from collections.abc import Callable, Iterable

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.filters.admission import Admission, Rules
from ganeti_tx.queue.filters.rule_book import Action, rejection_text
from ganeti_tx.queue.job import QueuedJob, Status
from ganeti_tx.queue.ready import ReadyQueue
from ganeti_tx.queue.runs import Runs

log = Logger()


@define
class Gate:
    """Keeps its books in `admission`; a job that is set aside keeps its place in the ready queue."""

    rules: Callable[[], Rules]
    store: JobStore
    ready: ReadyQueue
    runs: Runs
    admission: Admission = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.admission = Admission(self.rules)

    def renew(self) -> None:
        """Take in the rules of now; those that reject do so at once, however many jobs run."""
        if self.admission.renew() and self.admission.rejects:
            self.turn_away(self.store.open_jobs)

    def recall(self) -> None:
        """Those who may have their turn again have their places back."""
        for job_id in self.admission.called():
            self.ready.unblock(job_id)

    def admits(self, job: QueuedJob) -> bool:
        """Whether the job that is next may start now; one that may not leaves its place."""
        decision = self.admission.ask(job)
        if decision is None:
            self.ready.block(job.id, on=job.id)
        elif decision.action is Action.REJECT and decision.rule is not None and not job.begun:
            self._reject(job, decision.rule)
        else:
            return True
        return False

    def started(self, job: QueuedJob) -> None:
        """The job gets its slot."""
        self.admission.runs(job)

    def over(self, job_id: int) -> None:
        """A job is out of everybody's hands."""
        self.admission.over(job_id)

    def count_running(self) -> None:
        """Take in the jobs that run already."""
        for job_id in self.runs:
            if (job := self.store.get(job_id)) is not None:
                self.admission.runs(job)

    def turn_away(self, jobs: Iterable[QueuedJob]) -> None:
        """End those that a rule rejects, one after the other, without waiting for their turn."""
        if self.admission.rejects:
            ending = Deferred.fromCoroutine(self._turn_away([job.id for job in jobs]))
            ending.addErrback(lambda failure: log.failure("jobs are not rejected before their turn", failure))

    async def _turn_away(self, job_ids: Iterable[int]) -> None:
        for job_id in job_ids:
            job = self.store.glance(job_id)
            if not isinstance(job, QueuedJob) or job.status is not Status.QUEUED or job_id in self.runs or job.begun:
                continue
            if (rule := self.admission.rejected_by(job)) is not None:
                await self._reject(job, rule)

    def _reject(self, job: QueuedJob, rule: FilterRule) -> "Deferred[None]":
        self.ready.leave(job.id)
        return self.runs.claim_and_end(job, Status.CANCELED, rejection_text(job.id, rule))
