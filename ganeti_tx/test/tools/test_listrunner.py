"""ganeti-listrunner, with a shell script in place of ssh."""

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.tools.listrunner import main
from ganeti_tx.tools.listrunner.remote import REMOTE_SHELL, Keeping, Way
from ganeti_tx.tools.listrunner.said import showable

#: A machine that is not there, one that hangs, and others.
SHELL = """#!/bin/sh
host=$1
shift
case $host in
  gone) echo "no route" >&2; exit 255 ;;
  hung) exec sleep 60 ;;
esac
echo "on $host"
exec "$@"
"""
SCRIPT = '#!/bin/sh\necho "args: $#: $1"\necho $0 > "$2"\nexit 3\n'


class ListrunnerTests(SynchronousTestCase):
    """The program."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.directory.mkdir()
        shell = self.file("shell", SHELL)
        shell.chmod(0o755)
        self.patch(os, "environ", {**os.environ, REMOTE_SHELL: str(shell)})

    def file(self, name: str, text: str) -> Path:
        """One in the test's directory."""
        path = self.directory / name
        path.write_text(text)
        return path

    def run_main(self, *words: str) -> tuple[int | str | None, str, str]:
        """Its status and what it says on both outputs."""
        self.patch(sys, "argv", ["ganeti-listrunner", *words])
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                status: int | str | None = main.main()
        except SystemExit as end:
            status = end.code
        return status, out.getvalue(), err.getvalue()

    def test_command(self) -> None:
        """A line of shell is run on each, and what each says is shown under its name."""
        status, out, err = self.run_main("-c", "echo $((1 + 1)); echo x >&2", "-h", "node1,node2,node1", "-b", "1")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(
            out,
            "node1: success\non node1\n2\nx\nnode2: success\non node2\n2\nx\n2 of 2 succeeded\n",
        )

    def test_failures(self) -> None:
        """One that fails, and one that hangs, hold up nobody and are counted."""
        status, out, _err = self.run_main("-c", "true", "-h", "gone,hung,node1", "-t", "0.3")
        self.assertEqual(status, 1)
        for part in ("gone: exit status 255\nno route\n", "hung: its time is over\n", "node1: success\n"):
            self.assertIn(part, out)
        self.assertTrue(out.endswith("\n1 of 3 succeeded\n"))

    def test_executable(self) -> None:
        """A program is sent, run with its arguments, and removed; the logs have what it said."""
        script, hosts = self.file("script", SCRIPT), self.file("hosts", "# all\nnode1 # the first\n\nnode2\n")
        told, logs = self.directory / "told", self.directory / "logs"
        status, out, err = self.run_main(
            "-x", str(script), "-a", f"'one two' {told}", "-f", str(hosts), "-l", str(logs)
        )
        self.assertEqual((status, err), (1, ""))
        self.assertEqual(sorted(out.splitlines()), ["0 of 2 succeeded", "node1: exit status 3", "node2: exit status 3"])
        self.assertEqual((logs / "node1.log").read_text(), "on node1\nargs: 2: one two\n")
        self.assertFalse(Path(told.read_text().strip()).exists())

    def test_refused(self) -> None:
        """What cannot be done is told in one line before anything is begun."""
        big, pipe = self.file("big", "x" * (main.MAX_SHOWN + 1)), self.directory / "pipe"
        os.mkfifo(pipe)
        for words, reason in {
            ("-c", "true", "-h=-oProxyCommand=x"): "not the name or address of a machine: '-oProxyCommand=x'",
            ("-c", "true", "-h", ","): "--hosts names 0 machines",
            ("-c", "true", "-f", "/nonexistent"): "cannot read /nonexistent",
            ("-c", "true", "-f", str(big)): "longer than",
            ("-c", "true", "-f", str(pipe)): "not a regular file",
            ("-x", str(pipe), "-h", "node1"): "not a regular file",
            ("-x", "/nonexistent", "-h", "node1"): "cannot read /nonexistent",
            ("-x", str(big), "-a", "'", "-h", "node1"): "--args: No closing quotation",
            ("-c", "true", "-a", "x", "-h", "node1"): "--args are those of the program",
            ("-c", "true", "-u=-x", "-h", "node1"): "not the name of a user: '-x'",
        }.items():
            status, out, err = self.run_main(*words)
            self.assertEqual((status, out, err.count("\n")), (1, "", 1), words)
            self.assertIn(reason, err)

    def test_usage(self) -> None:
        """What is missing or out of bounds is told by the usage."""
        for words in (
            ("-h", "node1"),
            ("-c", "true"),
            ("-c", "true", "-x", "y", "-h", "node1"),
            ("-c", "true", "-h", "node1", "-b", "0"),
            ("-c", "true", "-h", "node1", "-t", "nan"),
        ):
            self.assertEqual(self.run_main(*words)[:2], (2, ""), words)

    def test_shown(self) -> None:
        """Of very much only the beginning is shown."""
        _status, out, _err = self.run_main("-c", f"head -c {2 * main.MAX_SHOWN} /dev/zero | tr '\\0' x", "-h", "node1")
        self.assertIn("[the rest is left out; --logdir keeps up to 67108864 bytes]", out)
        self.assertLess(len(out), main.MAX_SHOWN + 1000)

    def test_logged(self) -> None:
        """No log outgrows its limit."""
        self.patch(main, "LOGGED", Keeping(10, "enough"))
        logs = self.directory / "logs"
        self.assertEqual(self.run_main("-c", "echo 1234567890", "-h", "node1", "-l", str(logs))[0], 0)
        self.assertEqual((logs / "node1.log").read_bytes(), b"on node1\n1\n[enough]\n")

    def test_big_input(self) -> None:
        """A program that is longer than a pipe holds arrives whole; one that nobody reads holds up nobody."""
        script = self.file("script", "#!/bin/sh\nwc -c < $0\nexit\n" + "#" * 300_000)
        self.assertIn(f"\n{script.stat().st_size}\n", self.run_main("-x", str(script), "-h", "node1")[1])
        self.assertIn("gone: exit status 255\n", self.run_main("-x", str(script), "-h", "gone")[1])

    def test_left_behind(self) -> None:
        """What goes on there with the output in its hands is not waited for."""
        status, out, _err = self.run_main("-c", "sleep 20 & echo begun", "-h", "node1", "-t", "10")
        self.assertEqual((status, out), (0, "node1: success\non node1\nbegun\n1 of 1 succeeded\n"))

    def test_controls(self) -> None:
        """A machine cannot command the terminal, nor say what the output's encoding cannot."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
        self.patch(sys, "argv", ["ganeti-listrunner", "-h", "h1,h2", "-b", "1", "-c", "printf '\\303\\251\\033[2J\\n'"])
        with redirect_stdout(out):
            self.assertEqual(main.main(), 0)
        said = out.buffer.getvalue()
        self.assertEqual(said.count(b"\\xe9\\x1b[2J\n"), 2)
        self.assertEqual(showable("é\r\n\u202e\t\x9b", "utf-8"), "é\n\\u202e\t\\x9b")

    def test_log_elsewhere(self) -> None:
        """A link in the place of a log is not written through, nor a pipe waited at."""
        logs, other = self.directory / "logs", self.file("other", "mine")
        logs.mkdir()
        (logs / "node1.log").symlink_to(other)
        os.mkfifo(logs / "node2.log")
        for host in ("node1", "node2"):
            status, _out, err = self.run_main("-c", "true", "-h", host, "-l", str(logs))
            self.assertEqual((status, err.count("\n")), (1, 1))
            self.assertIn(f"{logs}/{host}.log: ", err)
        self.assertEqual(other.read_text(), "mine")


class WayTests(SynchronousTestCase):
    """The arguments of ssh."""

    def test_argv(self) -> None:
        """Nobody is asked for a password; the words are one for the shell there; the host is no option."""
        way = Way("root", 2222, True, Path("/kh"), 1.0, {})
        argv = way.argv("node1", ["sh", "-c", "echo 'a b'"])
        self.assertEqual(argv[0], "ssh")
        self.assertIn("-oBatchMode=yes", argv)
        self.assertIn("-oForwardAgent=yes", argv)
        self.assertIn("-oPort=2222", argv)
        self.assertEqual(argv[-3:], ["--", "node1", "sh -c 'echo '\"'\"'a b'\"'\"''"])
