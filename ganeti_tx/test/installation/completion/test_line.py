"""Tests of how a line comes from a shell and how the answer goes back."""

import shlex

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.completion.offer import Candidate, Offer, words
from ganeti_tx.installation.completion.line import bash_lines, joined, lines_with_meanings, unquoted, words_of
from ganeti_tx.installation.completion.main import answer
from ganeti_tx.test.cli.completion.test_complete import SomeNames


class LineTests(SynchronousTestCase):
    """Words in, words out."""

    def test_words(self) -> None:
        """Each ends with a zero byte, the last one, too; it may be empty."""
        self.assertEqual(words_of(b"gnt-job\0\0"), ["gnt-job", ""])
        self.assertEqual(words_of(b""), [])
        self.assertEqual(words_of(b"\xff\0"), ["\ufffd"])

    def test_joined(self) -> None:
        """What bash cuts at its marks is one word."""
        for pieces, whole in (
            (["gnt-node", "add", "--x", "=", "a"], ["gnt-node", "add", "--x=a"]),
            (["gnt-node", "add", "--x", "="], ["gnt-node", "add", "--x="]),
            (["gnt-node", "-H", "kvm", ":", "a", "=", ""], ["gnt-node", "-H", "kvm:a="]),
            (["gnt-node", "add", ""], ["gnt-node", "add", ""]),
        ):
            self.assertEqual(joined(pieces), whole)

    def test_quoted_for_bash(self) -> None:
        """bash puts the text on the line as it is, so that everything but plain letters is quoted there."""
        hostile = Offer((Candidate("a$(touch x)`y`;'\"&|<>*? ~\\"),))
        (line,) = bash_lines(hostile, "a", "a")
        self.assertEqual(shlex.split(line), [hostile.candidates[0].word])
        for quote in ("'a", '"a'):
            self.assertEqual(list(bash_lines(hostile, quote, quote)), [])
        self.assertEqual(list(bash_lines(words(["~root", "#x"]), "", "")), [r"\~root", r"\#x"])

    def test_piece(self) -> None:
        """Only the piece behind the last mark is put in place."""
        self.assertEqual(list(bash_lines(words(["--node=node1"]), "--node=no", "no")), ["node1"])
        self.assertEqual(list(bash_lines(words(["--node=node1"]), "--node=", "=")), ["node1"])

    def test_meanings(self) -> None:
        """On one line, whatever they hold."""
        offer = Offer((Candidate("a", "x\ty\nz\x1b"), Candidate("b")))
        self.assertEqual(list(lines_with_meanings(offer)), ["a\tx y z", "b"])

    def test_unquoted(self) -> None:
        """Quotes and escapes are taken off, nothing else is done."""
        self.assertEqual([unquoted(each) for each in ("a\\ b", "'a b", '"$(x)"', "a\\")], ["a b", "a b", "$(x)", "a\\"])


class AnswerTests(SynchronousTestCase):
    """The whole way for programs of every kind."""

    def words(self, line: str) -> list[str]:
        """What is offered to zsh, without meanings."""
        data = "".join(f"{word}\0" for word in line.split(" ")).encode()
        return [each.split("\t")[0] for each in answer("zsh", data, SomeNames())]

    def test_programs(self) -> None:
        """Commands by path, programs with options and subcommands, daemons; of others nothing."""
        self.assertEqual(self.words("/usr/sbin/gnt-instance startu"), ["words", "startup"])
        self.assertEqual(self.words("ganeti-watcher --ignore"), ["words", "--ignore-pause"])
        self.assertEqual(self.words("ganeti-rapi-access use"), ["words", "user"])
        self.assertIn("add", self.words("ganeti-rapi-access user "))
        self.assertIn("--role", self.words("ganeti-rapi-access user add --r"))
        self.assertEqual(self.words("ganeti-noded --max"), ["words", "--max-clients"])
        self.assertEqual(self.words("ganeti-cleaner "), ["words", "master", "node"])
        self.assertEqual(self.words("rm "), ["words"])
        self.assertEqual(self.words("gnt-job"), ["words"])
