"""The collector "inst-status-kvm", on a node whose instances' files are in memory."""

from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.mond.inst_status import Reasons, judged, uptime_text
from ganeti_tx.mond.inst_status_kvm import ASK_LIMIT, TICKS, UPTIME, InstanceStatusKvm, KvmInstances
from ganeti_tx.mond.interfaces import NodeFacts
from ganeti_tx.mond.status import StatusCode
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.mond.parts import FixedFacts, as_sent, known, put

PATHS = Paths("/n1")
#: As the kernel writes it: the name may hold anything; the 22nd field is the start.
STAT = "{pid} (qemu) x) S " + " ".join(["0"] * 18) + " {start} 0 0\n"


@implementer(IQemuProcesses)
@define
class Living:
    """The processes that there are, by their pid files."""

    pids: dict[Path, int] = field(factory=dict)

    def is_alive(self, pid: int, pid_file: Path) -> bool:
        """See `IQemuProcesses`."""
        return self.pids.get(pid_file) == pid

    def kill(self, pid: int, pid_file: Path) -> None:
        """Not asked here."""
        raise NotImplementedError

    def when_ended(self, pid: int, pid_file: Path) -> "Deferred[None]":
        """Not asked here."""
        raise NotImplementedError

    def cpu_seconds(self, pid: int) -> float:
        """Not asked here."""
        raise NotImplementedError

    def threads(self, pid: int) -> list[int]:
        """Not asked here."""
        raise NotImplementedError

    def pin(self, thread_id: int, cpus: frozenset[int]) -> None:
        """Not asked here."""
        raise NotImplementedError


class KvmCase(SynchronousTestCase):
    """A node with instances; QEMU's sockets answer what the test says."""

    def setUp(self) -> None:
        self.files, self.clock, self.living = MemoryFiles(), Clock(), Living()
        self.connections: list[tuple[Path, Deferred[QmpClient]]] = []
        put(self.files, UPTIME, "100000.50 3.2\n")

    def instance(self, name: str, pid: int, alive: bool = True, stays: bool = False) -> None:
        """An instance that was started 3725 seconds ago."""
        layout = instance_layout(PATHS, name)
        argv = ["-no-shutdown"] if stays else []
        state = InstanceRuntime(name=name, uuid="u", memory=128, vcpus=1, acceleration="tcg", argv=argv, pid=pid)
        put(self.files, layout.runtime, msgspec.json.encode(state).decode())
        put(self.files, layout.pid, f"{pid}\n")
        put(self.files, f"/proc/{pid}/stat", STAT.format(pid=pid, start=(100000 - 3725) * TICKS))
        if alive:
            self.living.pids[layout.pid] = pid

    def collected(self, *instances: Any, heard: bool = True) -> "Deferred[Any]":
        """A look."""

        def connect(socket: Path) -> "Deferred[QmpClient]":
            connecting: Deferred[QmpClient] = Deferred()
            self.connections.append((socket, connecting))
            return connecting

        running = KvmInstances(OwnMachines(PATHS, self.files, self.living, Monitors(connect)), self.clock)
        facts = FixedFacts(NodeFacts(instances, heard=heard))
        collector = InstanceStatusKvm(running, facts, Reasons(self.files, PATHS))
        return Deferred.fromCoroutine(collector.collect()).addCallback(as_sent)

    def report(self, *instances: Any, heard: bool = True) -> Any:
        """What a look that needs nobody gives."""
        return self.successResultOf(self.collected(*instances, heard=heard))


class KvmTests(KvmCase):
    """What is told of the instances."""

    def test_running(self) -> None:
        """An instance whose QEMU is there runs, since its process was started; QEMU is not asked."""
        self.instance("web1", 100)
        report = self.report(known("web1"))
        self.assertEqual(
            report["instances"],
            [
                {
                    "name": "web1", "uuid": "uuid-web1", "adminState": "up", "actualState": "running",
                    "uptime": "1:02:05", "mtime": 1234.5, "state_reason": [], "status": {"code": 0, "message": ""},
                },
            ],
        )  # fmt: skip
        self.assertEqual((report["status"], self.connections), ({"code": 0, "message": ""}, []))

    def test_down(self) -> None:
        """One without a process, or whose process id is somebody else's, is down, which is bad if it should be up."""
        self.instance("web1", 100, alive=False)
        report = self.report(known("web1"), known("web2"), known("web3", admin_state="down"))
        self.assertEqual([each["actualState"] for each in report["instances"]], ["down"] * 3)
        self.assertEqual([each["status"]["code"] for each in report["instances"]], [4, 4, 0])
        self.assertEqual(report["status"]["code"], 4)
        self.assertIn("web1 is down and should be up; web2", report["status"]["message"])

    def test_lost_files(self) -> None:
        """One whose pid file was written over runs, and so does one whose runtime file cannot be read."""
        for number, name in enumerate(("web1", "web2")):
            self.instance(name, 100 + number)
        put(self.files, instance_layout(PATHS, "web1").pid, "garbage " * 100)
        put(self.files, instance_layout(PATHS, "web2").runtime, "garbage")
        report = self.report(known("web1"), known("web2"))
        self.assertEqual([each["actualState"] for each in report["instances"]], ["running"] * 2)

    def test_should_be_down(self) -> None:
        """One that runs and should not is bad too."""
        self.instance("web1", 100)
        for admin_state in ("down", "offline"):
            self.assertEqual(self.report(known("web1", admin_state=admin_state))["status"]["code"], 4)

    def test_all_stand_still(self) -> None:
        """However many QEMUs do not tell, the look takes no longer than for one; when it is ended, nothing is asked on."""
        names = [f"web{number}" for number in range(50)]
        for pid, name in enumerate(names):
            self.instance(name, 100 + pid, stays=True)
        looking = self.collected(*map(known, names))
        self.assertEqual(len(self.connections), 50)
        self.clock.advance(ASK_LIMIT)
        self.assertEqual(self.successResultOf(looking)["status"]["code"], 0)
        looking = self.collected(*map(known, names))
        looking.cancel()
        self.failureResultOf(looking, CancelledError)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_others(self) -> None:
        """Instances that are none of this node's own, other hypervisors' instances and broken files are left out."""
        self.instance("unknown", 101)
        put(self.files, PATHS.kvm_conf_dir / "broken.runtime", "{")
        put(self.files, PATHS.kvm_conf_dir / "-x.runtime", "{}")
        self.assertEqual(self.report(known("web1", "xen-pvm")), {"instances": [], "status": {"code": 0, "message": ""}})

    def test_not_told(self) -> None:
        """Before the configuration is known the status is unknown."""
        self.instance("web1", 100)
        report = self.report(heard=False)
        self.assertEqual((report["instances"], report["status"]["code"]), ([], StatusCode.UNKNOWN))

    def test_reason(self) -> None:
        """Why and when the state was changed comes from the node's own file, if it can be read."""
        path = PATHS.instance_reason_dir / "web1"
        put(self.files, path, '[["gnt:client:gnt-instance", "because", 1]]')
        instance = self.report(known("web1"))["instances"][0]
        self.assertEqual(instance["state_reason"], [["gnt:client:gnt-instance", "because", 1]])
        self.assertEqual(instance["mtime"], self.files.stat(path).mtime)
        for damaged in (b"[", b'["\xff"]', b"[" * 100_000):
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, damaged)))
            self.assertEqual(self.report(known("web1"))["instances"][0]["state_reason"], [])

    def test_powered_off(self) -> None:
        """Of an instance that stays when its guest powers itself off, QEMU tells; it is asked by its control socket."""
        self.instance("web1", 100, stays=True)
        looking = self.collected(known("web1"))
        [(socket, connecting)] = self.connections
        self.assertEqual(socket, instance_layout(PATHS, "web1").qmp)
        connecting.callback(Answering({"status": "shutdown"}))  # type: ignore[arg-type]
        instance = self.successResultOf(looking)["instances"][0]
        self.assertEqual((instance["actualState"], instance["uptime"]), ("shutdown", None))
        self.assertEqual(instance["status"]["code"], StatusCode.TEMPORARY)

    def test_no_answer(self) -> None:
        """A QEMU that does not answer in time, or not at all, runs; nobody waits for it longer."""
        self.instance("web1", 100, stays=True)
        looking = self.collected(known("web1"))
        self.clock.advance(ASK_LIMIT)
        self.assertEqual(self.successResultOf(looking)["instances"][0]["actualState"], "running")
        looking = self.collected(known("web1"))
        self.connections[-1][1].errback(HypervisorError("refused"))
        self.assertEqual(self.successResultOf(looking)["instances"][0]["actualState"], "running")


class Answering:
    """A QEMU that answers everything alike."""

    is_lost = False

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def execute(self, command: str) -> Any:
        """As QmpClient does."""
        return self._answer

    def close(self) -> None:
        """As QmpClient does."""


class WordsTests(SynchronousTestCase):
    """What is told in words."""

    def test_uptime(self) -> None:
        """As xl writes it."""
        found = [uptime_text(seconds) for seconds in (0, 59.9, 3661, 86400, 2 * 86400 + 5)]
        self.assertEqual(found, ["0:00:00", "0:00:59", "1:01:01", "1 day, 0:00:00", "2 days, 0:00:05"])

    def test_judged(self) -> None:
        """What passes by itself is temporary, whatever is asked; paused is not what anybody asked for."""
        codes = [
            judged("i", admin, state).code for admin, state in (("up", "dying"), ("down", "dying"), ("up", "paused"))
        ]
        self.assertEqual(codes, [StatusCode.TEMPORARY, StatusCode.TEMPORARY, StatusCode.BAD])
