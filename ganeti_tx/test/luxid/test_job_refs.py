"""References to jobs in little room."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.job_refs import JobRefs
from ganeti_tx.query.jobs import JobRef


class RefTests(SynchronousTestCase):
    """JobRefs as a sequence."""

    def test_order(self) -> None:
        """They stand by their ids, and say which are archived; one that is in both places is live."""
        refs = JobRefs.of([10**17, 7, 3], [1, 5, 7])
        expected = [JobRef(1, True), JobRef(3, False), JobRef(5, True), JobRef(7, False), JobRef(10**17, False)]
        self.assertEqual(list(refs), expected)
        self.assertEqual((len(refs), refs[-1], refs[1:3]), (5, expected[-1], expected[1:3]))

    def test_largest(self) -> None:
        """The largest number that a job file can have has room."""
        self.assertEqual(list(JobRefs.of([], [10**18 - 1])), [JobRef(10**18 - 1, True)])

    def test_none(self) -> None:
        """No jobs are an empty sequence."""
        self.assertEqual(list(JobRefs.of([], [])), [])
