"""A hypervisor on one node, and what tests of it do again and again."""

from collections.abc import Awaitable
from typing import Any

from twisted.trial.unittest import TestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, IHypervisor
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec

MEMORY = 64


class HypervisorCase(TestCase):
    """A subclass makes drivers over one node's directories, and tells what is left on the node.

    Each test holds the cells of its hypervisor on the page to what it has found (`hypervisor_page`).

    @cvar memory: MiB of each instance.
    """

    driver: Any
    name = "web1.example.com"
    memory = MEMORY

    async def prepare(self) -> None:
        """Make the node."""

    def new_driver(self) -> IHypervisor:
        """A driver as a daemon that starts now would make it."""
        raise NotImplementedError

    def remains(self) -> list[str]:
        """What is on the node that was not there before the first start."""
        raise NotImplementedError

    def run(self, result: Any = None) -> Any:
        """Trial's own; without a driver there is nothing to test."""
        if type(self).new_driver is HypervisorCase.new_driver:
            return result
        return super().run(result)

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for what it returns
        await self.prepare()
        self.driver = self.new_driver()

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """An instance without disks and interfaces, so it needs nothing of the node."""
        spec = kvm_spec(name=name or self.name, vcpus=1, **hvparams)
        spec.beparams.update(maxmem=self.memory, minmem=self.memory)
        return spec

    def disks(self) -> list[AttachedDisk]:
        """What each instance is started with; none, unless a hypervisor cannot do without."""
        return []

    async def start(self, name: str = "", paused: bool = False, **hvparams: Any) -> InstanceSpec:
        """Start one."""
        spec = self.spec(name, **hvparams)
        await self.driver.start(spec, self.disks(), paused)
        return spec

    def done(self, *done: str) -> None:
        """The page says so."""
        rows.hold(self.driver.name, dict.fromkeys(done, DONE))

    def found(self, row: str, what: str) -> None:
        """The page says that this becomes of it."""
        rows.hold(self.driver.name, {row: self.of_any(what)})

    def of_any(self, what: str) -> str:
        """What is said of the instance and its hypervisor, as it is said of any."""
        own = what.removeprefix(f"instance {self.name}: ").replace(self.name, "NAME")
        return own.replace(f"hypervisor {self.driver.name} ", "this hypervisor ")

    async def refused(self, awaitable: Awaitable[object]) -> str:
        """The one line with which it fails."""
        try:
            await awaitable
        except HypervisorError as error:
            self.assertNotIn("\n", str(error))
            return str(error)
        raise AssertionError("it was not refused")
