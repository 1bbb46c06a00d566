"""What the supervisor starts, and when."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.devcluster.supervisor import GOOD_LIFE, INTERVAL, PAUSES, Daemon, Supervisor
from ganeti_tx.errors import ExitCode

NODE = DevNode(name="node1.dev.example", address="127.0.0.2", root=Path("/nowhere"))
NODED: Daemon = (NODE, "ganeti-noded")


class Start:
    """A start whose end the test decides."""

    def __init__(self) -> None:
        self.status: int | None = None

    def poll(self) -> int | None:
        """As Popen does."""
        return self.status


class SupervisorTests(SynchronousTestCase):
    """One daemon, which lives, dies or is stopped."""

    def setUp(self) -> None:
        """It lives."""
        self.lives: dict[Daemon, bool] = {NODED: True}
        self.starts: list[Start] = []
        self.said: list[str] = []
        self.now = 0.0
        self.supervisor = Supervisor(lambda: self.lives, self.start, self.said.append)
        self.look()

    def start(self, node: DevNode, daemon: str) -> Start:
        """It is asked for."""
        self.starts.append(Start())
        return self.starts[-1]

    def look(self, seconds: float = 2 * INTERVAL) -> None:
        """Time passes."""
        for _ in range(round(seconds / INTERVAL)):
            self.supervisor.look(self.now)
            self.now += INTERVAL

    def come_up(self) -> None:
        """The last start succeeds."""
        self.lives[NODED] = True
        self.starts[-1].status = 0
        self.look()

    def test_dies(self) -> None:
        """One that died is started once, however long the start takes."""
        self.lives[NODED] = False
        self.look(20)
        self.assertEqual(len(self.starts), 1)
        self.come_up()
        self.look(20)
        self.assertEqual(len(self.starts), 1)

    def test_seen_once(self) -> None:
        """One that is dead in one look only was just being started by somebody else."""
        self.lives[NODED] = False
        self.look(INTERVAL)
        self.lives[NODED] = True
        self.look(20)
        self.assertEqual(self.starts, [])

    def test_stopped(self) -> None:
        """One that ended in order, without a pid file, stays down."""
        del self.lives[NODED]
        self.look(20)
        self.assertEqual(self.starts, [])

    def test_growing_pauses(self) -> None:
        """The pauses grow while it dies soon after each start, and do not grow beyond the last."""
        for pause in (*PAUSES, PAUSES[-1]):
            self.lives[NODED] = False
            before = len(self.starts)
            self.look(pause)
            self.assertEqual(len(self.starts), before)
            self.look(3 * INTERVAL)
            self.assertEqual(len(self.starts), before + 1)
            self.come_up()

    def test_good_life(self) -> None:
        """When it has run for long enough the deaths before are forgotten."""
        for _ in range(3):
            self.lives[NODED] = False
            self.look(3 * INTERVAL)
            self.come_up()
            self.look(GOOD_LIFE + 2 * INTERVAL)
        self.assertEqual(len(self.starts), 3)

    def test_failed_start(self) -> None:
        """A start that fails removes the pid file; it is tried again, with pauses."""
        self.lives[NODED] = False
        self.look()
        del self.lives[NODED]
        for pause in PAUSES[1:]:
            self.starts[-1].status = 1
            before = len(self.starts)
            self.look(pause)
            self.assertEqual(len(self.starts), before)
            self.look(3 * INTERVAL)
            self.assertEqual(len(self.starts), before + 1)

    def test_refused(self) -> None:
        """One that may not run on that node is not tried again."""
        self.lives[NODED] = False
        self.look()
        del self.lives[NODED]
        self.starts[-1].status = ExitCode.NOTMASTER
        self.look(60)
        self.assertEqual(len(self.starts), 1)
        self.assertIn("may not run", self.said[-1])

    def test_somebody_was_quicker(self) -> None:
        """When another started it, our start that was refused is not repeated."""
        self.lives[NODED] = False
        self.look()
        self.lives[NODED] = True
        self.starts[-1].status = 1
        self.look(60)
        self.assertEqual(len(self.starts), 1)
