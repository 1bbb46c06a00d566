"""Tests of colours."""

import io
import re

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.colours import GREEN, RED, YELLOW, cut, painted, painted_line
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, run
from ganeti_tx.test.cli.fakes import FakeClient, Terminal, answer_of

STATUSES = {
    "running": GREEN, "ADMIN_down": None, "ERROR_down": RED, "ERROR_nodeoffline": RED, "ADMIN_offline": YELLOW,
    "success": GREEN, "error": RED, "canceled": YELLOW, "queued": YELLOW,
}  # fmt: skip
LIST = answer_of(
    ("status", "text", "Status"), ("drained", "bool", "Drained"), ("role", "text", "Role"), ("name", "text", "Name"),
    rows=[[word, index == 0, "O", "running"] for index, word in enumerate(STATUSES)],
)  # fmt: skip


class ColourTests(SynchronousTestCase):
    """A list, on a terminal or not."""

    def listed(
        self,
        *words: str,
        out: io.StringIO,
        err: io.StringIO | None = None,
        environ: dict[str, str] | None = None,
        **more: str,
    ) -> str:
        """What gnt-instance list writes."""
        client = FakeClient()
        client.answers["Query"] = lambda *_: LIST
        context = CommandContext(
            {**(environ or {}), **more},
            out,
            err or io.StringIO(),
            io.StringIO(),
            lambda: client,
            lambda argv, document: 0,
        )
        run(program_named("gnt-instance"), ["list", *words], context)
        return out.getvalue()

    def test_words(self) -> None:
        """On a terminal statuses have colours, flags that warn and roles that do, too; other columns have none."""
        plain = self.listed(out=io.StringIO()).splitlines()
        lines = self.listed(out=Terminal(), TERM="xterm").splitlines()
        self.assertEqual(lines[0], plain[0])
        for index, (word, colour) in enumerate(STATUSES.items(), start=1):
            flag = painted("Y", YELLOW) if index == 1 else "N"
            status = painted(word, colour) + " " * (len("ERROR_nodeoffline") - len(word))
            self.assertEqual(lines[index], f"{status} {flag}       {painted('O', YELLOW)}    running")

    def test_widths(self) -> None:
        """Without its colours a table is the same as elsewhere."""
        coloured = self.listed(out=Terminal(), TERM="xterm")
        self.assertEqual(re.sub(r"\x1b\[\d+m", "", coloured), self.listed(out=io.StringIO()))

    def test_nowhere_else(self) -> None:
        """No colour comes into files and pipes, to terminals that have none, to who wants none, between separators, or in
        documents.
        """
        cases: list[tuple[list[str], io.StringIO, dict[str, str]]] = [
            ([], io.StringIO(), {"TERM": "xterm"}),
            ([], Terminal(), {}),
            ([], Terminal(), {"TERM": "dumb"}),
            ([], Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}),
            (["--color=never"], Terminal(), {"TERM": "xterm"}),
            (["--separator=|"], Terminal(), {"TERM": "xterm"}),
            (["--separator=|", "--color=always"], Terminal(), {"TERM": "xterm"}),
            (["--output-format=json", "--color=always"], Terminal(), {"TERM": "xterm"}),
        ]
        for words, out, environ in cases:
            text = self.listed(*words, out=out, environ=environ)
            self.assertIn("running", text)
            self.assertNotIn("\x1b", text, (words, environ))

    def test_asked_for(self) -> None:
        """An empty NO_COLOR is none, and --color=always outdoes all; the other spelling is taken, too."""
        self.assertIn("\x1b[32mrunning", self.listed(out=Terminal(), TERM="xterm", NO_COLOR=""))
        self.assertIn("\x1b[32mrunning", self.listed("--color=always", out=io.StringIO(), NO_COLOR="1"))
        self.assertIn("\x1b[32mrunning", self.listed("--colour=always", out=io.StringIO()))

    def test_errors(self) -> None:
        """Errors are red on a terminal, whatever becomes of the result."""
        for words, begin in ((("-F", "name =="), "Failure: "), (("--units=x",), "gnt-instance list: ")):
            out, err, plain = io.StringIO(), Terminal(), io.StringIO()
            self.listed(*words, out=out, err=err, TERM="xterm")
            self.assertRegex(err.getvalue(), rf"^\x1b\[31m{begin}.*\x1b\[0m\n$")
            self.listed(*words, out=io.StringIO(), err=plain, TERM="xterm")
            self.assertEqual(plain.getvalue(), re.sub(r"\x1b\[\d+m", "", err.getvalue()))


class LineTests(SynchronousTestCase):
    """Lines of jobs, checks and trees."""

    def test_lines(self) -> None:
        """What is complained of has a colour behind its time, and a status behind its label; all else is as it was."""
        time = "Fri Nov 27 06:42:59 2026 "
        self.assertEqual(
            painted_line(f"{time}  - ERROR: node node1: gone"), f"{time}  - " + painted("ERROR: node node1: gone", RED)
        )
        self.assertEqual(
            painted_line("  - WARNING:ENODEN1:node:x:y"), "  - " + painted("WARNING:ENODEN1:node:x:y", YELLOW)
        )
        self.assertEqual(painted_line("  Status: error"), "  Status: " + painted("error", RED))
        for line in ("", "* Verifying ERRORs", "Status: unheard", "web1 ERROR", "name: ERROR", "ERRORS"):
            self.assertEqual(painted_line(line), line)

    def test_cut(self) -> None:
        """Colours take no room, and never run on beyond what was cut."""
        line = f"ab {painted('running', GREEN)} cd"
        self.assertEqual(cut(line, 80), line)
        self.assertEqual(cut(line, 6), "ab \x1b[32mrun\x1b[0m")
        self.assertEqual(cut("x" * 9, 4), "xxxx")
