"""Each program has a page, which tells every subcommand and option that it has."""

import shutil
import subprocess

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import load
from ganeti_tx.installation.main import installed_programs
from ganeti_tx.installation.manual.pages import manual_pages
from ganeti_tx.installation.manual.roff import bold, escaped, paragraphs


class PagesTests(SynchronousTestCase):
    """The pages of this installation."""

    def setUp(self) -> None:
        self.programs = installed_programs()
        self.pages = manual_pages(self.programs)

    def test_every_program(self) -> None:
        """There is one for each, with its name and what it does."""
        self.assertEqual(set(self.pages), set(self.programs))
        for name, text in self.pages.items():
            lines = text.splitlines()
            told = lines[lines.index(".SH NAME") + 1]
            self.assertTrue(told.startswith(f"{escaped(name)} \\- "), told)
            self.assertGreater(len(told), 2 * len(name))
            self.assertIn(".SH SYNOPSIS", lines)

    def test_every_command(self) -> None:
        """All subcommands of the gnt-* programs, with all their options."""
        for name in filter(lambda name: name.startswith("gnt-"), self.programs):
            for command, entry in program_named(name).commands.items():
                self.assertIn(f'.SS "{escaped(command)}"', self.pages[name])
                for option in load(entry).options:
                    for flag in option.flags:
                        self.assertIn(escaped(flag), self.pages[name])

    def test_others(self) -> None:
        """Daemons have the options of Twisted's kind, the other programs those of argparse, below each of their words."""
        self.assertIn(bold("-p, --port=PORT"), self.pages["ganeti-noded"])
        self.assertIn(bold("--syslog=SYSLOG"), self.pages["ganeti-noded"])
        self.assertIn('.SS "token revoke"', self.pages["ganeti-rapi-access"])
        self.assertIn(bold("-f, --full-run"), self.pages["ganeti-ensure-dirs"])

    def test_language(self) -> None:
        """What typesets manual pages finds no fault."""
        program = shutil.which("groff")
        if program is None:
            self.skipTest("there is no groff")
        for name, text in self.pages.items():
            done = subprocess.run(
                [program, "-man", "-Tutf8", "-ww", "-Wbreak", "-z"],
                input=text,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)


class LanguageTests(SynchronousTestCase):
    """Text that looks like requests."""

    def test_escaped(self) -> None:
        """Nothing of a text is a request; hyphens are those that are typed."""
        self.assertEqual(escaped(".so /etc/passwd"), "\\&.so /etc/passwd")
        self.assertEqual(escaped("a\\b --c"), "a\\eb \\-\\-c")

    def test_examples(self) -> None:
        """Indented lines are shown as they stand."""
        self.assertEqual(list(paragraphs("a\nb\n\n  c")), [".PP", "a", "b", ".PP", ".nf", "  c", ".fi"])
