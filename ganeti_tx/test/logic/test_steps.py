"""Tests of steps and of taking them back."""

from collections.abc import Sequence

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import in_config
from ganeti_tx.model.undo import Undo

NAMES = ("first", "broken", "last")


class StepsTests(SynchronousTestCase):
    """What happens on the way and when the block is left."""

    def setUp(self) -> None:
        self.done: list[str] = []
        self.warnings: list[str] = []
        self.told: list[str] = []
        self.kept: list[list[str]] = []
        self.fault: Exception = OpExecError("cannot")
        self.otherwise: str | None = None
        self.steps = Steps(
            tell=lambda entry: self.told.append(f"{entry.get('step', '-')} {entry['title']} {entry['state']}"),
            warn=self.warnings.append,
            take_back=self.take_back,
            keep=self.keep,
            plan=[PlannedStep(name) for name in NAMES],
        )

    async def take_back(self, undo: Undo) -> None:
        """An undo that is kept in mind."""
        if undo.title == "broken":
            raise self.fault
        self.done.append(undo.title)

    async def keep(self, undos: Sequence[Undo]) -> None:
        """They are written down."""
        self.kept.append([undo.title for undo in undos])

    def undo(self, name: str) -> Undo:
        """One that takes back the step of its name."""
        undo = in_config(name, IConfig.remove_instance, name)
        return undo if name != "broken" or self.otherwise is None else undo_with(name, self.otherwise)

    async def work(self, end: "Deferred[None]", names: Sequence[str] = NAMES) -> None:
        """Three steps, of which the second cannot be undone."""
        async with self.steps:
            for name in names:
                async with self.steps.step(name, self.undo(name)):
                    pass
            await end

    def run_work(self, error: Exception | None = None, names: Sequence[str] = NAMES) -> None:
        """Do the work, which ends well or not."""
        end: Deferred[None] = Deferred()
        result = Deferred.fromCoroutine(self.work(end, names))
        if error is None:
            end.callback(None)
            self.successResultOf(result)
        else:
            end.errback(error)
            self.assertIs(self.failureResultOf(result, type(error)).value, error)

    def test_success_undoes_nothing(self) -> None:
        """What went well stays, and nobody finds an undo for it any more."""
        self.run_work()
        self.assertEqual((self.done, self.kept[-1]), ([], []))

    def test_written_before(self) -> None:
        """Each step's undo is written down, after those before it, when the step begins."""
        self.run_work()
        self.assertEqual(self.kept[:3], [["first"], ["first", "broken"], ["first", "broken", "last"]])

    def test_told(self) -> None:
        """Steps are told as they begin; those that are passed over as skipped, also at the end."""
        self.run_work(names=("broken",))
        self.assertEqual(self.told, ["1 first skipped", "2 broken begun", "3 last skipped"])

    def test_not_in_the_plan(self) -> None:
        """A step that the plan does not have, or has before the present one, is a fault of the unit."""
        for names in (("other",), ("last", "first")):
            self.setUp()
            self.failureResultOf(Deferred.fromCoroutine(self.work(Deferred(), names)), RuntimeError)

    def test_cannot_be_written(self) -> None:
        """A step whose undo cannot be written down is not begun; what was begun before is taken back."""

        async def refuse(undos: Sequence[Undo]) -> None:
            if len(undos) == 2:
                raise OpExecError("disk full")

        self.steps.keep = refuse
        self.failureResultOf(Deferred.fromCoroutine(self.work(Deferred())), OpExecError)
        self.assertEqual(self.done, ["first"])

    def test_failure_undoes_last_first(self) -> None:
        """Every step is undone, last first; one that cannot be does not stop the others, and the first error goes on."""
        self.run_work(OpExecError("too late"))
        self.assertEqual(self.done, ["last", "first"])
        self.assertEqual(self.warnings, ["could not undo a step (broken): cannot"])
        self.assertEqual(self.kept[-1], [])

    def test_what_must_stay(self) -> None:
        """When one without which the others would do harm cannot be done, those before it stay."""
        self.otherwise = "it may run"
        self.run_work(OpExecError("too late"))
        self.assertEqual(self.done, ["last"])
        self.assertEqual(self.warnings, ["could not undo a step (broken): cannot", "it may run"])

    def test_settled(self) -> None:
        """What was settled is not taken back."""

        async def work() -> None:
            async with self.steps:
                async with self.steps.step("first", self.undo("first")):
                    pass
                await self.steps.settle()
                raise OpExecError("too late")

        self.failureResultOf(Deferred.fromCoroutine(work()), OpExecError)
        self.assertEqual((self.done, self.kept), ([], [["first"], []]))

    def test_settled_but_for_the_rest(self) -> None:
        """What is to be done in any case is done, and found written down until then."""

        async def work() -> None:
            async with self.steps:
                async with self.steps.step("first", self.undo("first")):
                    pass
                await self.steps.settle(self.undo("last"))
                raise OpExecError("too late")

        self.failureResultOf(Deferred.fromCoroutine(work()), OpExecError)
        self.assertEqual((self.done, self.kept), (["last"], [["first"], ["last"], []]))

    def test_nothing_to_undo(self) -> None:
        """What was surely not begun is not taken back, and nobody finds it written down either."""

        async def work() -> None:
            async with self.steps, self.steps.step("first", undo := self.undo("first")):
                self.steps.nothing_to_undo(undo)
                raise OpExecError("refused")

        self.failureResultOf(Deferred.fromCoroutine(work()), OpExecError)
        self.assertEqual((self.done, self.kept), ([], [["first"], []]))

    def test_fault_of_ours(self) -> None:
        """An undo step that is wrong itself does not stop the others either."""
        self.fault = KeyError("disk")
        self.run_work(OpExecError("too late"))
        self.assertEqual(self.done, ["last", "first"])
        self.assertIn("internal error", self.warnings[0])
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_cancellation(self) -> None:
        """A stop takes back what was begun, too."""
        self.run_work(CancelledError())
        self.assertEqual(self.done, ["last", "first"])


def undo_with(name: str, otherwise: str) -> Undo:
    """One that is needed by those before it."""
    undo = in_config(name, IConfig.remove_instance, name)
    return type(undo)(title=name, operation=undo.operation, arguments=undo.arguments, otherwise=otherwise)
