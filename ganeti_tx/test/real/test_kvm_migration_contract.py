"""QEMU keeps the contract of migrations."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from twisted.internet import reactor
from twisted.internet.task import deferLater

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import Side
from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.kvm.migration import run_state
from ganeti_tx.test.contracts.live_migration import LiveMigrationContract
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode
from ganeti_tx.test.real.migration_pairs import pairs
from ganeti_tx.test.real.test_kvm_migration import free_port


class KvmMigrationTests(LiveMigrationContract):
    """Two node roots; the guest has nothing to boot from."""

    timeout = 300

    def pairs(self) -> Sequence[TlsPair | None]:
        """See the contract: as the cluster has it where nobody says otherwise."""
        return pairs()

    async def prepare(self) -> None:
        """See the contract."""
        self.port = free_port()
        self.nodes = [KvmNode(), KvmNode()]
        for node in self.nodes:
            self.addCleanup(node.clear)

    def new_drivers(self) -> Any:
        """See the contract."""
        return [node.driver() for node in self.nodes]

    def remains(self, node: int) -> list[str]:
        """See the contract."""
        return self.nodes[node].remains()

    def spec(self) -> InstanceSpec:
        """See the contract."""
        return kvm_spec(vcpus=1, kvm_flag="disabled", migration_port=self.port, migration_bandwidth=500)

    async def pause(self) -> None:
        """See the contract."""
        clock: Any = reactor
        await deferLater(clock, 0.05)

    async def test_in_the_clear(self) -> None:
        """Without keys it goes over, too."""
        self.pairs = lambda: (None, None)  # type: ignore[method-assign]  # for this test only
        await self.test_goes_over()

    async def said(self, *commands: str) -> str:
        """The run state of the machine on the old node, after some commands of its monitor."""
        async with self.old.sending.machines.monitor(self.nodes[0].layout(self.name)) as client:
            for command in commands:
                await client.execute(command)
            return await run_state(client)

    async def goes(self, live: bool) -> None:
        """To the new node, which is then the old one. That it has come may be told twice."""
        await self.accept()
        await self.send(live)
        for _ in range(2):
            await self.new.take_over(self.name)
        await self.old.leave_source(self.name)
        self.old, self.new = self.new, self.old
        self.turn()

    async def test_stopped(self) -> None:
        """A guest that somebody has stopped is found stopped, there and where it stays; one that runs again runs."""
        self.assertEqual(await self.said("stop"), "paused")
        for live in (True, False):
            await self.goes(live)
            self.assertEqual(await self.said(), "paused")
        await self.accept()
        await self.send()
        await self.new.stop(self.name, 0.0, force=True)
        await self.old.stay_on_source(self.name, True)
        self.assertEqual(await self.said(), "paused")
        self.assertEqual(await self.said("cont"), "running")
        await self.goes(live=False)
        self.assertEqual(await self.said("stop"), "paused")
        await self.old.take_over(self.name)
        self.assertEqual(await self.said(), "paused")

    async def test_stopped_since(self) -> None:
        """One that somebody has stopped, or let run, since its new node was told of it is not sent, and stays as it is."""
        for command, now in (("stop", "paused"), ("cont", "running")):
            await self.accept()
            self.assertEqual(await self.said(command), now)
            self.assertRegex(await self.refused(self.send()), "its guest was .* since the migration was begun")
            await self.new.refuse(self.name)
            await self.old.stay_on_source(self.name, False)
            self.assertEqual(await self.said(), now)
            self.assertEqual(await self.sides(), [Side.RUNS, None])

    async def test_not_begun(self) -> None:
        """So is one that was started paused, also if it could run there before all has come."""
        await self.old.stop(self.name, 0.0, force=True)
        self.instance = replace(self.instance, hvparams={**self.instance.hvparams, "migration_caps": "postcopy-ram"})
        await self.old.start(self.instance, [], paused=True)
        await self.goes(live=True)
        self.assertEqual(await self.said(), "prelaunch")

    def turn(self) -> None:
        """See the contract."""
        self.nodes.reverse()
