"""What every ILiveMigration does: two nodes, of which at most one has a machine that runs."""

from collections.abc import Awaitable, Sequence
from typing import Any

from twisted.trial.unittest import TestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import ILiveMigration, TlsPair
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE

ADDRESS = "127.0.0.1"


class LiveMigrationContract(TestCase):
    """A subclass makes the drivers of two nodes, and tells what is left on each.

    @ivar tells_downtime: whether the hypervisor knows how long a guest stood still.
    """

    tells_downtime = True

    async def prepare(self) -> None:
        """Make the nodes."""

    def new_drivers(self) -> Any:
        """Drivers as daemons that start now would make them."""
        raise NotImplementedError

    def remains(self, node: int) -> list[str]:
        """What is on a node that was not there before the first start."""
        raise NotImplementedError

    def spec(self) -> InstanceSpec:
        """An instance that both nodes can run."""
        raise NotImplementedError

    async def pause(self) -> None:
        """Let a little time pass."""

    def pairs(self) -> Sequence[TlsPair | None]:
        """By what the old node, and the new one, knows the other; none: by what the hypervisor has itself."""
        return None, None

    def run(self, result: Any = None) -> Any:
        """Trial's own; a bare contract is no test."""
        if type(self).new_drivers is LiveMigrationContract.new_drivers:
            return result
        return super().run(result)

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for what it returns
        await self.prepare()
        self.old, self.new = self.new_drivers()
        self.instance = self.spec()
        self.told: Any = None
        self.name = self.instance.name
        await self.old.start(self.instance, [])

    async def tearDown(self) -> None:  # type: ignore[override]  # trial waits for what it returns
        for node, driver in enumerate((self.old, self.new)):
            await driver.stop(self.name, 0.0, force=True)
            self.assertEqual(self.remains(node), [])

    async def sides(self) -> list[Side | None]:
        """What each node has."""
        return [await driver.migration_side(self.name) for driver in (self.old, self.new)]

    async def refused(self, awaitable: Awaitable[object]) -> str:
        """The one line with which it fails, and names the instance."""
        try:
            await awaitable
        except HypervisorError as error:
            self.assertNotIn("\n", str(error))
            self.assertIn(self.name, str(error))
            return str(error)
        raise AssertionError("it was not refused")

    async def accept(self) -> None:
        """Have the new node wait."""
        self.told = await self.old.migration_info(self.instance)
        await self.new.accept(self.instance, [], self.told, ADDRESS, self.pairs()[1], source=ADDRESS)

    async def send(self, live: bool = True) -> MigrationProgress:
        """Send it; how that ended."""
        await self.old.send(self.instance, ADDRESS, live, self.pairs()[0], ADDRESS, self.told)
        while (progress := await self.old.migration_progress(self.name)).status is MigrationState.ACTIVE:
            await self.pause()
        return progress

    async def test_end_is_waited_for(self) -> None:
        """Who asks how far it is with time to wait is answered when it has ended, and at once when nothing is sent any more."""
        await self.accept()
        await self.old.send(self.instance, ADDRESS, True, self.pairs()[0], ADDRESS)
        for _ in range(2):
            progress = await self.old.migration_progress(self.name, 60.0)
            self.assertIs(progress.status, MigrationState.COMPLETED)

    def test_interface(self) -> None:
        """It has every method."""
        verifyObject(ILiveMigration, self.new)

    async def test_goes_over(self) -> None:
        """It runs there, and is cleared away here; each end may be told twice, also by daemons that started meanwhile."""
        self.assertEqual(await self.sides(), [Side.RUNS, None])
        await self.accept()
        self.assertEqual(await self.sides(), [Side.RUNS, Side.INCOMING])
        progress = await self.send()
        self.assertIs(progress.status, MigrationState.COMPLETED)
        self.assertEqual(progress.downtime is not None, self.tells_downtime)
        for _ in range(2):
            self.old, self.new = self.new_drivers()
            await self.new.take_over(self.name)
        self.assertEqual(await self.sides(), [Side.SENT, Side.RUNS])
        for _ in range(2):
            await self.old.leave_source(self.name)
        self.assertEqual((await self.sides(), self.remains(0)), ([None, Side.RUNS], []))
        info = await self.new.info(self.name)
        assert info is not None
        self.assertEqual((info.vcpus, info.memory), (1, int(self.instance.beparams["maxmem"])))
        rows.hold(self.new.name, {rows.MIGRATE: DONE})

    async def test_stands_still(self) -> None:
        """One that stands still meanwhile runs there, too."""
        await self.accept()
        self.assertIs((await self.send(live=False)).status, MigrationState.COMPLETED)
        await self.new.take_over(self.name)
        self.assertEqual(await self.sides(), [Side.SENT, Side.RUNS])
        rows.hold(self.new.name, {rows.MIGRATE_FROZEN: DONE})

    async def test_one_runs(self) -> None:
        """Who has let it run does not give it up, who has sent it does not go on, who runs it is not cleared away."""
        self.assertIn("runs here", await self.refused(self.old.leave_source(self.name)))
        await self.accept()
        await self.send()
        await self.new.take_over(self.name)
        self.assertIn("may run elsewhere", await self.refused(self.old.stay_on_source(self.name, False)))
        self.assertIn("runs here already", await self.refused(self.new.refuse(self.name)))
        self.assertIn("runs here", await self.refused(self.new.leave_source(self.name)))
        self.assertEqual(await self.sides(), [Side.SENT, Side.RUNS])

    async def test_taken_back(self) -> None:
        """Before anything was sent it stays, and nothing waits any more; that may be told twice, and that it runs there."""
        await self.accept()
        for _ in range(2):
            await self.new.refuse(self.name)
            await self.old.stay_on_source(self.name, False)
            await self.old.take_over(self.name)
        self.assertEqual((await self.sides(), self.remains(1)), ([Side.RUNS, None], []))
        rows.hold(self.old.name, {rows.MIGRATE_BACK: DONE})

    async def test_again(self) -> None:
        """One that has come can go on its way again, and back."""
        for _ in range(2):
            await self.accept()
            await self.send()
            await self.new.take_over(self.name)
            await self.old.leave_source(self.name)
            self.old, self.new = self.new, self.old
            self.turn()
        self.assertEqual(await self.sides(), [Side.RUNS, None])

    def turn(self) -> None:
        """The nodes have changed places."""

    async def test_accepted_twice(self) -> None:
        """A node that runs it, or waits already, does not take it in."""
        info = await self.old.migration_info(self.instance)
        self.assertIn("runs already", await self.refused(self.old.accept(self.instance, [], info, ADDRESS)))

    async def test_nothing(self) -> None:
        """What is not there cannot be sent, nor told of."""
        await self.old.stop(self.name, 0.0, force=True)
        await self.refused(self.old.migration_info(self.instance))
        await self.refused(self.old.send(self.instance, ADDRESS, True))
        await self.refused(self.old.migration_progress(self.name))
        await self.refused(self.old.stay_on_source(self.name, True))
        await self.refused(self.new.take_over(self.name))
        for driver in (self.old, self.new):
            await driver.leave_source(self.name)
            await driver.refuse(self.name)
        self.assertEqual(await self.sides(), [None, None])
