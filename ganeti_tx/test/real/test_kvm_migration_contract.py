"""QEMU keeps the contract of migrations."""

from typing import Any

from twisted.internet import reactor
from twisted.internet.task import deferLater

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.test.contracts.live_migration import LiveMigrationContract
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode
from ganeti_tx.test.real.test_kvm_migration import free_port


class KvmMigrationTests(LiveMigrationContract):
    """Two node roots; the guest has nothing to boot from."""

    timeout = 300

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

    def turn(self) -> None:
        """See the contract."""
        self.nodes.reverse()
