"""What is told of a migration."""

from collections.abc import Mapping
from typing import Any, cast

from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.migration import MigrationProgress, MigrationState
from ganeti_tx.node.hypervisor.kvm.migration import COUNT_LIMIT, PAUSE, progress
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient

ENDED = {"status": "completed", "ram": {"transferred": 7, "total": 9}}


@define
class Told:
    """A QEMU that answers these one after the other, the last of them ever again."""

    answers: list[Mapping[str, Any]]
    asked: int = 0

    async def execute(self, command: str) -> Mapping[str, Any]:
        """See `QmpClient`."""
        assert command == "query-migrate"
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class ProgressTests(SynchronousTestCase):
    """How far it is."""

    def told(self, *answers: Mapping[str, Any]) -> tuple[MigrationProgress, int]:
        """What is told by these answers, and how many were asked for."""
        clock, qemu = Clock(), Told(list(answers))
        telling = Deferred.fromCoroutine(progress(cast(QmpClient, qemu), clock))
        clock.pump([PAUSE] * int(COUNT_LIMIT / PAUSE))
        return self.successResultOf(telling), qemu.asked

    def test_times(self) -> None:
        """One that is over is asked for again until QEMU knows how long it took."""
        counted = {**ENDED, "total-time": 1234, "downtime": 0}
        for early in (ENDED, {**ENDED, "total-time": 0, "downtime": 0}):
            found, asked = self.told(early, early, counted)
            self.assertEqual((found.total_time, found.downtime, asked), (1234, 0, 3))

    def test_others(self) -> None:
        """One that goes on, or has failed, is told at once; and one whose times nobody learns is over all the same."""
        for word, state in (("active", MigrationState.ACTIVE), ("failed", MigrationState.FAILED)):
            found, asked = self.told({"status": word, "total-time": 0})
            self.assertEqual((found.status, asked), (state, 1))
        self.assertIs(self.told(ENDED)[0].status, MigrationState.COMPLETED)
