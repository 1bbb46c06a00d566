"""What goes with a machine that ends by itself."""

from collections.abc import Callable
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.ended_machines import EndedMachines
from ganeti_tx.node.hypervisor.interfaces import IEndsByItself
from ganeti_tx.node.metadata.guests_told import Nobody
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.instance import named
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles

NAME = "web1.example.com"


@implementer(IEndsByItself)
@define
class Machines:
    """Of one hypervisor. @ivar fault: why what they leave stays."""

    running: set[str] = field(factory=set)
    fault: str = ""
    tell: Callable[[str], None] | None = None

    def watch_ends(self, ended: Callable[[str], None]) -> None:
        """See `IEndsByItself`."""
        self.tell = ended

    async def clear_ended(self, instance_name: str) -> None:
        """See `IEndsByItself`."""
        if self.fault:
            raise HypervisorError(self.fault)

    async def info(self, instance_name: str) -> str | None:
        """As IHypervisor says, of which only this matters here."""
        return instance_name if instance_name in self.running else None


@define
class Told(Nobody):
    """Whom it was told to forget."""

    forgotten: list[str] = field(factory=list)

    async def forget(self, name: str) -> None:
        """See ToldOfInstances."""
        self.forgotten.append(name)


class EndedMachinesTests(SynchronousTestCase):
    """A node with one hypervisor."""

    def setUp(self) -> None:
        files, paths = MemoryFiles(), Paths(Path("/node"))
        files.mkdir(paths.data_dir)
        self.machines, self.told = Machines(), Told()
        self.order = CallOrder(Terms(files, paths))
        EndedMachines({"kvm": self.machines}, self.order, self.told).watch()  # type: ignore[dict-item]

    def end(self) -> list[str]:
        """A machine ends; who is forgotten then."""
        assert self.machines.tell is not None
        self.machines.tell(NAME)
        return self.told.forgotten

    def test_forgotten(self) -> None:
        """What was told of it is not kept any longer, even if something else of it stays."""
        self.assertEqual(self.end(), [NAME])
        self.machines.fault = "it does not go"
        self.assertEqual(self.end(), [NAME, NAME])

    def test_started_again(self) -> None:
        """One that runs again by the time that anybody looks is known as it was told then."""

        async def start() -> None:
            async with self.order.held([named(NAME)]):
                self.assertEqual(self.end(), [])
                self.machines.running.add(NAME)

        self.successResultOf(Deferred.fromCoroutine(start()))
        self.assertEqual(self.told.forgotten, [])
