"""What is let in, what is kept of a node whose daemons are stopped, how a step is asked for, and what the command line says."""

import contextlib
import io
import signal
import subprocess
import sys
import time
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.start import run
from ganeti_tx.config.merging.choices import Conflict
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge import halted, instances
from ganeti_tx.merge.checks import MAX_JOINING
from ganeti_tx.merge.documents import Empty, Halting, Looked
from ganeti_tx.merge.letting_in import LIFE, admitted, let_in
from ganeti_tx.merge.main import parser
from ganeti_tx.merge.options import PAUSE_PERIOD, Restart
from ganeti_tx.merge.remote import StepFailed, run_step
from ganeti_tx.merge.undoing import ENDS, Undoing
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.wconfd.service import LIMITS

OTHERS = b"ssh-rsa AAAA somebody\nssh-rsa BBBB root@node3 (ganeti_tx)"
#: Long after 1970.
NOW = 1800000000.0
BEFORE = Halting(stopped=("web2.example.com",), was_drained=False)


class LettingInTests(SynchronousTestCase):
    """One marked line."""

    def test_line(self) -> None:
        """It comes, in the place of an earlier one, and goes; all else stays."""
        once = admitted(OTHERS, "ssh-ed25519 CCCC root@node1", NOW)
        end = time.strftime("%Y%m%d%H%M%S", time.localtime(NOW + LIFE))
        line = f'expiry-time="{end}" ssh-ed25519 CCCC root@node1 (cluster-merge)'
        self.assertEqual(once, OTHERS + b"\n" + line.encode() + b"\n")
        again = admitted(once, "ssh-ed25519 DDDD root@node1", NOW)
        self.assertEqual((again.count(b"(cluster-merge)"), again.count(b"DDDD")), (1, 1))
        self.assertEqual(admitted(again, None, NOW), OTHERS + b"\n")

    def test_file(self) -> None:
        """A node without such a file gets one that nobody else reads; taking back what is not there makes none."""
        paths = Paths(Path(self.mktemp()).absolute())
        let_in(paths, None)
        self.assertFalse(paths.root_authorized_keys.exists())
        let_in(paths, "ssh-ed25519 CCCC root@node1")
        self.assertEqual(paths.root_authorized_keys.stat().st_mode & 0o777, 0o600)


class HaltedTests(SynchronousTestCase):
    """A node on which no daemon runs."""

    def setUp(self) -> None:
        self.paths = Paths(Path(self.mktemp()).absolute())
        for directory in (self.paths.data_dir, self.paths.run_dir, self.paths.queue_dir):
            directory.mkdir(parents=True, exist_ok=True)
        self.paths.server_pem.write_text("theirs")
        self.paths.config_file.write_text("{}")
        (self.paths.queue_dir / "serial").write_text("7\n")
        self.paths.root_authorized_keys.parent.mkdir(parents=True)
        self.paths.root_authorized_keys.write_bytes(OTHERS + b"\n")

    def test_back(self) -> None:
        """Whatever joining another cluster has removed or replaced is as it was, and only once."""
        halted.halt(self.paths, BEFORE)
        record = halted.read_record(self.paths)
        halted.halt(self.paths, Halting(stopped=(), was_drained=True))
        self.assertEqual(halted.read_record(self.paths), record)
        self.assertEqual(halted.record_file(self.paths).stat().st_mode & 0o777, 0o600)
        self.paths.server_pem.write_text("ours")
        self.paths.config_file.unlink()
        self.paths.authority_key.write_text("ours")
        (self.paths.queue_dir / "serial").write_text("9\n")
        self.paths.root_authorized_keys.write_bytes(b"ssh-rsa AAAA somebody\nssh-rsa EEEE root@node1 (ganeti_tx)\n")
        halted.restore(self.paths)
        self.assertEqual((self.paths.server_pem.read_text(), self.paths.config_file.read_text()), ("theirs", "{}"))
        self.assertEqual((self.paths.queue_dir / "serial").read_text(), "7\n")
        self.assertFalse(self.paths.authority_key.exists())
        self.assertEqual(self.paths.root_authorized_keys.read_bytes(), OTHERS + b"\n")
        self.assertIsNone(halted.read_record(self.paths))
        self.paths.server_pem.write_text("changed later")
        halted.restore(self.paths)
        self.assertEqual(self.paths.server_pem.read_text(), "changed later")

    def test_lost(self) -> None:
        """A copy that is gone is told of; what was there stays written down."""
        halted.halt(self.paths, BEFORE)
        record = halted.read_record(self.paths)
        assert record is not None
        Path(record.archive).unlink()
        self.paths.server_pem.write_text("ours")
        with self.assertRaisesRegex(GanetiError, "cannot put back .*tar: .*No such file"):
            halted.restore(self.paths)
        self.assertEqual(halted.read_record(self.paths), record)

    def test_damaged(self) -> None:
        """A record that nobody can read is no traceback."""
        halted.halt(self.paths, BEFORE)
        halted.record_file(self.paths).write_text("[]")
        with self.assertRaisesRegex(GanetiError, "cannot read .*ganeti-merge.json"):
            halted.restore(self.paths)


class StepTests(SynchronousTestCase):
    """A shell that stands in the place of ssh."""

    def ask(self, script: str) -> Looked:
        """What a node answers that runs this."""
        return run_step(["/bin/sh", "-c", script, "node3"], "look", Empty(), Looked)

    def test_answer(self) -> None:
        """A document is an answer, whatever else is said on standard error."""
        said = """echo warning >&2; echo '{"version": "1", "name": "n", "strayed": false}'"""
        self.assertEqual(self.ask(said), Looked(version="1", name="n", strayed=False))

    def test_refused(self) -> None:
        """All lines of a failure have the node's name; what cannot be read, and a program that is not there, are failures."""
        for script, wanted in (
            ("echo one >&2; echo two >&2; exit 1", "node3: one\nnode3: two"),
            ("exit 3", "node3: status 3"),
            ("echo hello", "node3: ganeti-merge-step look answers what cannot be read"),
            ("exit 127", "has no ganeti-merge-step"),
        ):
            with self.assertRaises(StepFailed) as caught:
                self.ask(script)
            self.assertIn(wanted, str(caught.exception))

    def test_program(self) -> None:
        """The program's own failures are lines."""
        for argv, wanted in (
            (["look"], 0),
            (["tell"], 1),
        ):
            done = run([sys.executable, "-m", "ganeti_tx.merge.step_main", *argv], 60.0)
            self.assertEqual((done.returncode, "Traceback" in done.stderr), (wanted, False), done.stderr)


class InstancesTests(SynchronousTestCase):
    """The command that an administrator types."""

    def test_words(self) -> None:
        """A name is no option, whatever it is."""
        argvs = list[list[str]]()

        def ended(argv: list[str], limit: float) -> "subprocess.CompletedProcess[str]":
            argvs.append(argv[1:])
            return subprocess.CompletedProcess(argv, 0, "", "")

        self.patch(instances, "ended", ended)
        self.patch(instances, "own_program", str)
        instances.start({"--all", "web1"})
        self.assertEqual(argvs, [["startup", "--force-multiple", "--", "--all", "web1"]])


class UndoingTests(SynchronousTestCase):
    """What is taken back."""

    def test_interrupt(self) -> None:
        """An interrupt is a reason, too; meanwhile another one does nothing, and afterwards it does."""
        said, seen = list[str](), list[object]()
        before = [signal.getsignal(number) for number in ENDS]
        with self.assertRaises(KeyboardInterrupt), Undoing(said.append) as undoing:
            undoing.undo("first", lambda: seen.append([signal.getsignal(number) for number in ENDS]))
            undoing.undo("second", self.fail_to_undo)
            raise KeyboardInterrupt
        self.assertEqual(said, ["second", "Failed: no way back", "first"])
        self.assertEqual(seen, [[signal.SIG_IGN] * len(ENDS)])
        self.assertEqual([signal.getsignal(number) for number in ENDS], before)

    def fail_to_undo(self) -> None:
        """@raise GanetiError"""
        raise GanetiError("no way back")

    def test_kept(self) -> None:
        """Without an error, and after `keep`, nothing is."""
        said = list[str]()
        with Undoing(said.append) as undoing:
            undoing.undo("first", self.fail_to_undo)
        with self.assertRaises(GanetiError), Undoing(said.append) as undoing:
            undoing.undo("first", self.fail_to_undo)
            undoing.keep()
            raise GanetiError
        self.assertEqual(said, [])


class CommandLineTests(SynchronousTestCase):
    """As Ganeti's tool has it."""

    def test_options(self) -> None:
        """Defaults, short names, spans of time; what is not allowed is refused with what is."""
        chosen = parser().parse_args(["other.example.com"])
        self.assertEqual(
            (chosen.watcher_pause_period, chosen.groups, chosen.restart, chosen.parameter_conflicts),
            (PAUSE_PERIOD, None, Restart.UP, Conflict.STRICT),
        )
        self.assertFalse(chosen.skip_stop_instances)
        chosen = parser().parse_args(
            ["-v", "-d", "-p", "2h", "--restart=all", "--param=warn", "--skip-stop-instances", "a", "b"]
        )
        self.assertEqual((chosen.watcher_pause_period, chosen.restart), (7200, Restart.ALL))
        self.assertEqual((chosen.parameter_conflicts, chosen.clusters), (Conflict.WARN, ["a", "b"]))
        for words, wanted in (
            (["--groups=split", "a"], "merge"),
            (["-p", "soon", "a"], "must be seconds, or a number with s, m, h, d or w, not 'soon'"),
            ([], "CLUSTER"),
        ):
            heard = io.StringIO()
            with contextlib.redirect_stderr(heard), self.assertRaises(SystemExit):
                parser().parse_args(words)
            self.assertIn(wanted, heard.getvalue())

    def test_size(self) -> None:
        """What is sent to the configuration daemon is not too long for it."""
        self.assertLess(MAX_JOINING, LIMITS.request)
