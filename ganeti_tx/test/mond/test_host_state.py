"""What is told of the node itself."""

from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.mond.cpu_load import STAT, TICKS
from ganeti_tx.mond.host_state import LOADAVG, MIB, VGS, HostState, HostStateCollector
from ganeti_tx.mond.room import Room, Rooms
from ganeti_tx.node.hypervisor.host import CPUINFO, MEMINFO
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.mond.parts import put

PATHS = Paths("/n1")


class HostStateTests(SynchronousTestCase):
    """A node whose files say what the test says."""

    def state(self, files: IFiles, runner: FakeProcessRunner | None = None) -> HostState:
        """A look."""
        rooms = Rooms(InlineThreads(), Clock())
        looking: Any = HostStateCollector(files, PATHS, runner or FakeProcessRunner(), rooms).collect()
        state: HostState = self.successResultOf(looking)
        return state

    def test_all(self) -> None:
        """Everything that the node tells."""
        files, runner = MemoryFiles(), FakeProcessRunner()
        put(files, MEMINFO, "MemTotal: 4096 kB\nMemAvailable: 1024 kB\n")
        put(files, CPUINFO, "processor : 0\n\nprocessor : 1\n")
        put(files, LOADAVG, "0.50 1.25 2.00 3/456 789\n")
        put(files, STAT, f"cpu {TICKS} 0 {2 * TICKS} {8 * TICKS} 0 0 0 0 9 9\ncpu0 1 1\n")
        put(files, PATHS.ssconf_file("file_storage_dir"), "/srv/x\n")
        put(files, PATHS.ssconf_file("shared_file_storage_dir"), "")
        runner.script(VGS, ProcessResult(stdout=b"  xenvg|1073741824|536870912\n  other|8|4\n"))
        state = self.state(files, runner)
        self.assertEqual((state.memory, state.cpus), (Room(4 * MIB, MIB), 2))
        self.assertEqual(state.load, (0.5, 1.25, 2.0))
        self.assertEqual((state.cpu_seconds["user"], state.cpu_seconds["idle"], len(state.cpu_seconds)), (1.0, 8.0, 8))
        self.assertEqual(state.volume_groups, {"xenvg": Room(1 << 30, 1 << 29), "other": Room(8, 4)})
        self.assertEqual(list(state.directories), ["file"])
        self.assertGreater(state.directories["file"].size, 0)

    def test_nothing(self) -> None:
        """What cannot be told is not there, and nothing fails for it."""
        self.assertEqual(self.state(MemoryFiles()), HostState())
        files, runner = MemoryFiles(), FakeProcessRunner()
        for path in (MEMINFO, CPUINFO, LOADAVG, STAT, PATHS.ssconf_file("file_storage_dir")):
            put(files, path, "what is this\n")
        runner.script(VGS, ProcessResult(stdout=b"  what | is|\n"))
        self.assertEqual(self.state(files, runner), HostState())

    def test_this_machine(self) -> None:
        """This machine tells its memory, processors, loads and times."""
        state = self.state(RealFiles(InlineThreads()))
        assert state.memory is not None and state.cpus is not None
        self.assertGreater(state.memory.size, state.memory.free)
        self.assertEqual((len(state.load), len(state.cpu_seconds)), (3, 8))
