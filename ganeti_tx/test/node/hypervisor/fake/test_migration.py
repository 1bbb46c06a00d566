"""The fake hypervisor keeps the contract of migrations."""

from pathlib import Path
from typing import Any

from twisted.internet.task import Clock

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.live_migration import ADDRESS, LiveMigrationContract
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec


class FakeMigrationTests(LiveMigrationContract):
    """Two nodes with files in memory."""

    async def prepare(self) -> None:
        """See the contract."""
        self.files = [MemoryFiles(), MemoryFiles()]

    def new_drivers(self) -> Any:
        """See the contract."""
        return [FakeHypervisor(files, Paths(Path("/n1")), Clock().seconds) for files in self.files]

    def remains(self, node: int) -> list[str]:
        """See the contract."""
        return [str(path) for path in self.files[node].contents()]

    def spec(self) -> InstanceSpec:
        """See the contract."""
        return kvm_spec(vcpus=1)

    async def test_copies(self) -> None:
        """Its disks go along, as nothing is on them; offered by who waits for it only."""
        self.assertIn("does not wait", await self.refused(self.old.offer_disks(self.instance, ADDRESS)))
        await self.accept()
        port = await self.new.offer_disks(self.instance, ADDRESS)
        await self.old.copy_disks(self.instance, ADDRESS, port, None)
        self.assertTrue((await self.old.copy_progress(self.name)).whole)
        rows.hold(self.new.name, {rows.COPIED: DONE})

    def turn(self) -> None:
        """See the contract."""
        self.files.reverse()
