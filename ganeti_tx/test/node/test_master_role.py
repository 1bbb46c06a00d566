"""Starting and stopping the master daemons by node calls."""

import signal
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.local_daemons import END_LIMIT, KILL_LIMIT, LocalDaemons, MachineProcesses
from ganeti_tx.node.master_role import MasterRoleCalls, forget_spared_vote
from ganeti_tx.rpc.calls.master import MasterNodeName, MasterVote, NodeStartMasterDaemons, NodeStopMaster
from ganeti_tx.runtime.daemon_control import SYSTEMD
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner

PATHS = Paths(Path("/node"))
MASTER = PATHS.pid_file("ganeti-master")
RAPI = PATHS.pid_file("ganeti-rapi")


class MasterRoleCallsTests(SynchronousTestCase):
    """A node whose processes react to signals as a test says."""

    def setUp(self) -> None:
        """ganeti-master runs as process 11, a job as process 12."""
        self.files = MemoryFiles()
        for directory in (PATHS.run_dir, PATHS.socket_dir, PATHS.data_dir):
            self.files.mkdir(directory)
        self.clock = Clock()
        self.runner = FakeProcessRunner(self.clock)
        self.daemons = {MASTER: 11}
        self.jobs = [12]
        self.signals: list[tuple[int, int]] = []
        self.stubborn: dict[int, set[int]] = {}
        processes = MachineProcesses(self.daemons.get, lambda: list(self.jobs), self.signal, str)
        daemons = LocalDaemons(self.files, PATHS, self.runner, self.clock, processes)
        self.part = MasterRoleCalls(self.files, PATHS, InlineThreads(), daemons)

    def signal(self, process: int, number: int) -> None:
        """Processes end by any signal to which they are not deaf."""
        self.signals.append((process, number))
        if number not in self.stubborn.get(process, ()):
            for path, holder in list(self.daemons.items()):
                if holder == process:
                    del self.daemons[path]
            self.jobs = [job for job in self.jobs if job != process]

    def put(self, path: Path, data: bytes = b"") -> None:
        """Have a file."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data, 0o640)))

    def stop(self) -> "Deferred[None]":
        """Stop the master."""
        return Deferred.fromCoroutine(self.part.stop(NodeStopMaster()))

    def start(self, no_voting: bool = False) -> "Deferred[None]":
        """Start the master."""
        return Deferred.fromCoroutine(self.part.start(NodeStartMasterDaemons(no_voting=no_voting)))

    def test_stop(self) -> None:
        """Daemons are asked to end; the processes of jobs, whose master is gone, are killed."""
        self.successResultOf(self.stop())
        self.assertEqual(self.signals, [(11, signal.SIGTERM), (12, signal.SIGKILL)])

    def test_nothing_runs(self) -> None:
        """Where none runs nothing is done."""
        self.daemons.clear()
        self.jobs.clear()
        self.successResultOf(self.stop())
        self.assertEqual(self.signals, [])

    def test_stubborn(self) -> None:
        """A daemon that does not end in time is killed."""
        self.stubborn[11] = {signal.SIGTERM}
        stopping = self.stop()
        self.clock.pump([1.0] * (int(END_LIMIT) + 1))
        self.successResultOf(stopping)
        self.assertIn((11, signal.SIGKILL), self.signals)

    def test_immortal(self) -> None:
        """One that cannot even be killed makes the call fail with its process id."""
        self.stubborn[11] = {signal.SIGTERM, signal.SIGKILL}
        stopping = self.stop()
        self.clock.pump([1.0] * (int(END_LIMIT + KILL_LIMIT) + 2))
        self.assertIn("11", str(self.failureResultOf(stopping, OpExecError).value))

    def test_start(self) -> None:
        """The daemon is started by its own program, and the call lasts until it answers; without votes if it is told so."""
        self.daemons.clear()
        spared: list[bool] = []

        def come_up(call: Call) -> ProcessResult:
            if call.argv[0] == "ganeti-master":
                spared.append(self.files.exists(PATHS.no_voting_file))
            self.put(PATHS.query_socket)
            return ProcessResult()

        self.runner.script([], come_up)
        for no_voting in (True, False):
            self.successResultOf(self.start(no_voting))
            self.assertFalse(self.files.exists(PATHS.no_voting_file))
        self.assertEqual(spared, [True, False])

    def test_runs_already(self) -> None:
        """To start what runs is nothing; what is missing of it is started."""
        self.daemons[RAPI] = 13
        self.successResultOf(self.start())
        self.assertEqual(self.runner.commands, [])
        del self.daemons[RAPI]
        self.runner.script([], ProcessResult())
        self.successResultOf(self.start())
        self.assertEqual(self.runner.commands, [["ganeti-rapi"]])

    def test_waits_for_votes(self) -> None:
        """A daemon that still asks for votes is ended: only a new one does without them."""
        spared: list[bool] = []

        def come_up(call: Call) -> ProcessResult:
            spared.append(self.files.exists(PATHS.no_voting_file))
            return ProcessResult()

        self.daemons[RAPI] = 13
        self.runner.script([], come_up)
        self.successResultOf(self.start(no_voting=True))
        self.assertEqual((self.signals, spared), ([(11, signal.SIGTERM)], [True]))

    def test_without_rapi(self) -> None:
        """A master is one also when the Remote API does not start there."""
        self.runner.script([], ProcessResult(status=1, stderr=b"ganeti-rapi: fatal: port 5080 is taken\n"))
        self.successResultOf(self.start())

    def test_stop_with_rapi(self) -> None:
        """The Remote API of a node that is no master any more ends, too."""
        self.daemons[RAPI] = 13
        self.successResultOf(self.stop())
        self.assertEqual(self.daemons, {})

    def test_does_not_start(self) -> None:
        """The daemon's own reason comes through, and the next start votes."""
        self.daemons.clear()
        self.runner.script([], ProcessResult(status=11, stderr=b"ganeti-master: fatal: node2 is the master\n"))
        text = str(self.failureResultOf(self.start(no_voting=True), OpExecError).value)
        self.assertIn("node2 is the master", text)
        self.assertFalse(self.files.exists(PATHS.no_voting_file))

    def test_killed_while_it_starts(self) -> None:
        """A node daemon that starts again forgets that a start without votes was under way."""
        self.put(PATHS.no_voting_file)
        for _ in range(2):
            forget_spared_vote(self.files, PATHS)
            self.assertFalse(self.files.exists(PATHS.no_voting_file))

    def test_vote(self) -> None:
        """The vote and the master's name come from the files as they are now."""
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(self.part.master_name(MasterNodeName()))), "")
        self.put(PATHS.ssconf_file("master_node"), b"node9\n")
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(self.part.master_name(MasterNodeName()))), "node9")
        ballot = self.successResultOf(Deferred.fromCoroutine(self.part.vote(MasterVote())))
        self.assertEqual((ballot.master, ballot.config_serial, ballot.newest), ("node9", None, -1))
        self.put(PATHS.config_file, b"junk")
        self.successResultOf(Deferred.fromCoroutine(self.part.vote(MasterVote())))

    def script(self, unit: str, shown: str, comes_up: bool = False, status: int = 0) -> None:
        """Have systemd rule, with units that behave so when they are started."""
        self.files.mkdir(SYSTEMD)
        self.part.daemons.paths = self.part.paths = Paths()

        def start(call: Call) -> ProcessResult:
            if comes_up:
                self.daemons[Paths().pid_file(unit)] = 21
            return ProcessResult(status=status, stderr=b"Job for the unit failed\nSee systemctl status\n")

        self.runner.script(["systemctl", "start", "ganeti-rapi"], ProcessResult(status=1))
        self.runner.script(["systemctl", "start", unit], start)
        self.runner.script(["systemctl", "show"], ProcessResult(stdout=shown.encode()))

    def test_systemd(self) -> None:
        """Where systemd rules its units do it, and a start that has ended well is over when the daemon runs."""
        self.daemons.clear()
        self.script("ganeti-master", "", comes_up=True)
        self.successResultOf(self.start())
        self.assertEqual(self.runner.commands[0], ["systemctl", "start", "ganeti-master"])

    def test_systemd_fails(self) -> None:
        """What the daemon told systemd comes through, with the journal as its log; else what systemctl says."""
        self.daemons.clear()
        for status in (0, 1):  # a unit for which there is nothing to do has been started well
            self.script("ganeti-master", "ConditionResult=yes\nStatusText=fatal: node2 is the master\n", status=status)
            text = str(self.failureResultOf(self.start(), OpExecError).value)
            self.assertEqual(text, "ganeti-master did not start: node2 is the master; see journalctl -u ganeti-master")
        self.script("ganeti-master", "ConditionResult=no\nStatusText=\n")
        self.assertIn("conditions", str(self.failureResultOf(self.start(), OpExecError).value))
        self.script("ganeti-master", "ConditionResult=yes\n", status=1)
        self.assertIn("See systemctl status", str(self.failureResultOf(self.start(), OpExecError).value))

    def test_no_program(self) -> None:
        """A daemon that is not installed is named."""
        with self.assertRaisesRegex(OpExecError, "ganeti-nothing"):
            own_program("ganeti-nothing")
