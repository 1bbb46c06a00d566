"""Tests of the hypervisors that a node has."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.task import Clock
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.model.hypervisors import AVAILABLE, HYPERVISORS
from ganeti_tx.node import hypervisor
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.node.hypervisor.registry import load_hypervisors
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.threads import InlineThreads, IThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.test_layers import imports_of


@define
class SomeParts:
    """What drivers are made from."""

    paths: Paths = field(factory=Paths)
    files: IFiles = field(factory=MemoryFiles)
    threads: IThreads = field(factory=InlineThreads)
    runner: IProcessRunner = field(factory=lambda: FakeProcessRunner(Clock()))
    clock: Any = field(factory=Clock)
    reactor: Any = field(factory=MemoryReactorClock)
    now: Callable[[], float] = field(default=lambda: 0.0)


class RegistryTests(SynchronousTestCase):
    """Drivers by name."""

    def test_folders(self) -> None:
        """Each folder with a driver is what a declaration names."""
        folders = [path.parent.name for path in Path(hypervisor.__path__[0]).glob("*/driver.py")]
        self.assertEqual({kind.driver for kind in HYPERVISORS.values()} - {None}, set(folders))

    def test_apart(self) -> None:
        """Nobody else imports what lies in the folder of a driver: what several need lies beside it."""
        top = Path(hypervisor.__path__[0])
        found = [
            f"{path.relative_to(top)} imports {target}"
            for folder in (path.parent for path in top.glob("*/driver.py"))
            for path in top.rglob("*.py")
            if folder not in path.parents
            for target, _ in imports_of(path)
            if target.startswith(f"node.hypervisor.{folder.name}.")
        ]
        self.assertEqual(found, [])

    def test_available(self) -> None:
        """What the cluster takes for available is what nodes have drivers for, each under its own name."""
        loaded = load_hypervisors(SomeParts())
        self.assertEqual(list(loaded), list(AVAILABLE))
        for name, driver in loaded.items():
            self.assertTrue(verifyObject(IHypervisor, driver))
            self.assertEqual(driver.name, name)
