"""Tests of --watch."""

import io
import os
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.patience import PATIENCE
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.test.cli.fakes import FakeClient, Terminal, answer_of


class WatchCase(SynchronousTestCase):
    """A list that is watched for some rounds, then left with Ctrl-C."""

    def setUp(self) -> None:
        self.client = FakeClient()
        self.names = ["web1"]
        self.client.answers["Query"] = self.answer
        self.time = 1_700_000_000.0
        self.pauses: list[float] = []
        self.rounds = 3
        self.errors: dict[int, Exception] = {}
        self.asked = 0
        self.master = "node1.example.com"

    def answer(self, *args: Any) -> Any:
        """The instances, or the error of this round."""
        self.asked += 1
        if self.asked in self.errors:
            raise self.errors[self.asked]
        rows = [[f"{name}-{self.asked}"] for name in self.names]
        return answer_of(("name", "text", "Instance"), rows=rows)

    def sleep(self, seconds: float) -> None:
        """Time passes, until the operator has seen enough."""
        self.pauses.append(seconds)
        self.time += seconds
        if len(self.pauses) >= self.rounds:
            raise KeyboardInterrupt

    def watch(self, *words: str, out: io.StringIO | None = None, **environ: str) -> tuple[int, str, str]:
        """The exit status and what was written."""
        out, err = out or io.StringIO(), io.StringIO()
        environ.setdefault("GANETI_HOSTNAME", "node1.example.com")
        context = CommandContext(
            environ, out, err, io.StringIO(), lambda: self.client, lambda argv, document: 0, now=lambda: self.time,
            sleep=self.sleep, read=lambda path: self.master,
        )  # fmt: skip
        status = run(program_named("gnt-instance"), ["list", *words], context)
        return status, out.getvalue(), err.getvalue()


class WatchTests(WatchCase):
    """Elsewhere than on a terminal, and what is the same on one."""

    def test_one_after_the_other(self) -> None:
        """Each is printed anew below the last; to leave is no failure."""
        self.assertEqual(
            self.watch("--watch=5"),
            (0, "Instance\nweb1-1\n\nInstance\nweb1-2\n\nInstance\nweb1-3\n", ""),
        )
        self.assertEqual(self.pauses, [5, 5, 5])

    def test_usual_pause(self) -> None:
        """Without a number it is two seconds, also before a name."""
        self.watch("--watch", "web1")
        self.assertEqual(self.pauses, [2, 2, 2])
        self.assertEqual(self.client.sent("Query")[0][2], ["|", ["==", "name", "web1"]])

    def test_limits(self) -> None:
        """A pause that is not possible is refused before anything is asked."""
        for pause in ("0", "-1", "3601", "x"):
            status, out, err = self.watch(f"--watch={pause}")
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), pause)
            self.assertIn(pause, err)
        self.assertEqual(self.asked, 0)

    def test_documents(self) -> None:
        """Documents come one after the other; YAML has a mark before each."""
        self.assertEqual(self.watch("--watch", "--output-format=yaml")[1].count("---\n"), 3)

    def test_lost_master(self) -> None:
        """A master daemon that is gone for a while is waited for, which is told once."""
        self.errors = dict.fromkeys((2, 3), NoMasterError("nobody listens"))
        self.rounds = 4
        status, out, err = self.watch("--watch")
        self.assertEqual((status, out), (0, "Instance\nweb1-1\n\nInstance\nweb1-4\n"))
        self.assertEqual(err, "Lost the master daemon, trying again every 2 seconds: nobody listens\n")

    def test_lost_for_good(self) -> None:
        """Not for ever."""
        self.errors = dict.fromkeys(range(2, 1000), NoMasterError("nobody listens"))
        self.rounds = 1000
        status, out, err = self.watch("--watch=60")
        self.assertEqual((status, out), (1, "Instance\nweb1-1\n"))
        self.assertEqual(len(self.pauses), PATIENCE // 60 + 1)
        self.assertIn("nobody listens", err.splitlines()[-1])

    def test_another_master(self) -> None:
        """Nor for a master daemon that is on another node now."""
        self.errors = {2: NoMasterError("nobody listens")}
        self.master = "node2.example.com"
        status, _out, err = self.watch("--watch")
        self.assertEqual((status, len(self.pauses)), (1, 1))
        self.assertIn("please connect to node 'node2.example.com' and rerun the command\n", err)

    def test_never_there(self) -> None:
        """A master daemon that was not there at first is an error, as without the option."""
        self.errors = {1: NoMasterError("nobody listens")}
        status, out, err = self.watch("--watch")
        self.assertEqual((status, out, self.pauses), (1, "", []))
        self.assertIn("nobody listens", err)

    def test_other_errors(self) -> None:
        """Whatever else goes wrong ends it."""
        self.errors = {2: OpPrereqError("Instance web1 not known", ECode.NOENT)}
        status, out, _err = self.watch("--watch", "web1")
        self.assertEqual((status, out), (1, "Instance\nweb1-1\n"))


class ScreenTests(WatchCase):
    """On a terminal."""

    def test_in_place(self) -> None:
        """The screen is drawn from its upper left corner each time, below what is shown and when; nothing else is erased."""
        self.rounds = 2
        _status, out, _err = self.watch("--watch", out=Terminal(), TERM="xterm")
        first, second = out.split("\x1b[H")[1:]
        self.assertTrue(first.startswith("Every 2 s: gnt-instance list  "), first)
        self.assertEqual(first.split("\x1b[K\n")[1:], ["", "Instance", "web1-1", "\x1b[J"])
        self.assertEqual(second.split("\x1b[K\n")[1:], ["", "Instance", "web1-2", "\x1b[J"])

    def test_size(self) -> None:
        """No line is longer than the screen is wide, and what has no room below is counted."""
        self.rounds = 1
        self.names = ["w" * 100] * 40
        lines = self.watch("--watch", out=Terminal(), TERM="xterm")[1].split("\x1b[K\n")
        self.assertEqual(len(lines) - 1, 23)
        self.assertEqual(lines[3], "w" * 80)
        self.assertEqual(lines[-2], "... 21 lines more")

    def test_no_size(self) -> None:
        """A terminal that has not been told its size is taken for a usual one."""
        leader, follower = os.openpty()
        self.addCleanup(os.close, leader)
        self.rounds = 1
        with open(follower, "w") as terminal:
            context = CommandContext(
                {"TERM": "xterm"}, terminal, io.StringIO(), io.StringIO(), lambda: self.client, lambda argv, document: 0,
                now=lambda: self.time, sleep=self.sleep,
            )  # fmt: skip
            run(program_named("gnt-instance"), ["list", "--watch"], context)
        self.assertIn(b"web1-1", os.read(leader, 4096))

    def test_lost_master(self) -> None:
        """It is told above what was there at last."""
        self.errors = {2: NoMasterError("nobody listens")}
        self.rounds = 2
        _status, out, err = self.watch("--watch", out=Terminal(), TERM="xterm")
        second = out.split("\x1b[H")[2].split("\x1b[K\n")
        self.assertTrue(second[0].startswith("Lost the master daemon, trying again every 2 seconds"), second)
        self.assertEqual((second[1:4], err), (["", "Instance", "web1-1"], ""))

    def test_dumb(self) -> None:
        """A terminal that cannot draw gets lines."""
        for term in ("dumb", ""):
            self.asked, self.pauses = 0, []
            out = self.watch("--watch", out=Terminal(), TERM=term)[1]
            self.assertNotIn("\x1b", out)
