"""Tests of the text form of filters."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.filters import MAX_DEPTH, MAX_LENGTH, glob_to_regexp, name_glob_to_regexp, parse_filter
from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.selection import both, selection
from ganeti_tx.errors import QueryFilterParseError

GOOD: dict[str, list[Any]] = {
    'name == "x"': ["==", "name", "x"],
    "name = 'x'": ["==", "name", "x"],
    'name != "x"': ["!=", "name", "x"],
    "be/memory >= 512": [">=", "be/memory", 512],
    "disk.size/0 < -3": ["<", "disk.size/0", -3],
    "a<=+3": ["<=", "a", 3],
    "master": ["?", "master"],
    "not master": ["!", ["?", "master"]],
    "not not master": ["!", ["!", ["?", "master"]]],
    '"web" in tags': ["=[]", "tags", "web"],
    '"web" not in tags': ["!", ["=[]", "tags", "web"]],
    "name =~ m/^web.*$/": ["=~", "name", "^web.*$"],
    r"name =~ /a\/b/i": ["=~", "name", r"(?i)a\/b"],
    "name =~ m#a/b#si": ["=~", "name", "(?is)a/b"],
    "name =~ |x|": ["=~", "name", "x"],
    "name !~ ^x^": ["!", ["=~", "name", "x"]],
    'name =* "web?.*"': ["=~", "name", r"^web.\..*$"],
    'name !* "x"': ["!", ["=~", "name", "^x$"]],
    "a and b and c": ["&", ["?", "a"], ["?", "b"], ["?", "c"]],
    "a or b and not c": ["|", ["?", "a"], ["&", ["?", "b"], ["!", ["?", "c"]]]],
    "(a or b) and c": ["&", ["|", ["?", "a"], ["?", "b"]], ["?", "c"]],
    'name == "q\\"x"': ["==", "name", 'q"x'],
    'name == "x" and (be/memory > 512 or "tag" in tags)': [
        "&",
        ["==", "name", "x"],
        ["|", [">", "be/memory", 512], ["=[]", "tags", "tag"]],
    ],
}
#: Each with the column at which it goes wrong.
BAD = {
    "": 1,
    "and": 1,
    "name ==": 8,
    "name == x": 9,
    "name == 1.5": 9,
    'name == "x': 9,
    "(a": 3,
    "a)": 2,
    "a b": 3,
    "a and": 6,
    '"x" a': 5,
    '"x" in 3': 8,
    "a =~ x": 5,
    "a =~ m/x/q": 10,
    "a =* 3": 6,
    "name == not": 9,
    "a ; b": 3,
    "a == " + "9" * 5000: 6,
}


class FilterTests(SynchronousTestCase):
    """The language of filters."""

    def test_good(self) -> None:
        """Each form of the language becomes the list that servers take."""
        for text, wanted in GOOD.items():
            self.assertEqual(parse_filter(text), wanted, text)

    def test_bad(self) -> None:
        """An error names the column at which the filter goes wrong."""
        for text, column in BAD.items():
            error = self.assertRaises(QueryFilterParseError, parse_filter, text)
            self.assertIn(f"at column {column},", str(error), text)

    def test_operators(self) -> None:
        """Behind a field that stands alone those are named, too."""
        operators = "an operator (==, !=, <, <=, >, >=, =~, !~, =*, !*), "
        for text, wanted in (("name ~ 3", "'and', 'or' or the end"), ("(name in x", "')'")):
            error = self.assertRaises(QueryFilterParseError, parse_filter, text)
            self.assertIn(f"expected {operators}{wanted} at column", str(error), text)
        error = self.assertRaises(QueryFilterParseError, parse_filter, "(name) x")
        self.assertIn("expected 'and', 'or' or the end at column 8", str(error))

    def test_limits(self) -> None:
        """Neither long nor deep filters exhaust the program."""
        for text in ("not " * (MAX_DEPTH + 1) + "a", "(" * (MAX_DEPTH + 1) + "a", "a" * (MAX_LENGTH + 1)):
            self.assertRaises(QueryFilterParseError, parse_filter, text)
        self.assertEqual(parse_filter("(" * 20 + "a" + ")" * 20), ["?", "a"])

    @given(st.text(st.sampled_from("ab()=~\"'/ notinandor0123456789*!<>"), max_size=30))
    def test_any_text(self, text: str) -> None:
        """Any text gives a filter or a clear error, nothing else."""
        try:
            self.assertIsInstance(parse_filter(text), list)
        except QueryFilterParseError as error:
            self.assertIn("Filter", str(error))

    def test_globs(self) -> None:
        """A pattern of a filter covers the whole text; one for a name stays within its components."""
        self.assertTrue(re.search(glob_to_regexp("w*b?"), "w.e.b1"))
        self.assertFalse(re.search(glob_to_regexp("w*"), "aw"))
        for name, found in {"web1": True, "web1.example.com": True, "web.x1": False, "web12.x": False}.items():
            self.assertEqual(bool(re.search(name_glob_to_regexp("web?"), name)), found, name)


class SelectionTests(SynchronousTestCase):
    """Arguments of list commands."""

    def test_words(self) -> None:
        """Names and patterns are joined, one word with a mark of the language is a filter."""
        for words, wanted in [
            ([], None),
            (["a"], ["|", ["==", "name", "a"]]),
            (["a", "b*"], ["|", ["==", "name", "a"], ["=~", "name", r"^b[^.]*(\..*)?$"]]),
            (["a == 1"], ["==", "a", 1]),
            (["not a"], ["!", ["?", "a"]]),
        ]:
            self.assertEqual(selection(words, force_filter=False), wanted, words)

    def test_marks(self) -> None:
        """Each mark of the table makes a filter of a word, and no other character does (Ganeti 3.0 query table)."""
        found = set()
        for mark in map(chr, range(128)):
            try:
                read = selection([f"a{mark}b"], force_filter=False)
            except QueryFilterParseError:
                read = ["?"]
            if read is not None and read[0] == "?":
                found.add(mark)
        self.assertEqual(found, set("\t\n\v\f\r !\"'()/<=>\\~"))

    def test_forced(self) -> None:
        """--filter takes a word without marks as a filter, and only one."""
        self.assertEqual(selection(["master"], force_filter=True), ["?", "master"])
        self.assertRaises(UsageError, selection, ["a", "b"], force_filter=True)

    def test_numbers(self) -> None:
        """Jobs are selected by number."""
        self.assertEqual(selection(["7"], force_filter=False, field="id", numbers=True), ["|", ["==", "id", 7]])
        self.assertRaises(UsageError, selection, ["x"], force_filter=False, field="id", numbers=True)

    def test_both(self) -> None:
        """Two selections are joined, one alone stays as it is."""
        self.assertEqual(
            [both(None, None), both(["?", "a"], None), both(None, ["?", "a"])], [None, ["?", "a"], ["?", "a"]]
        )
        self.assertEqual(both(["?", "a"], ["?", "b"]), ["&", ["?", "a"], ["?", "b"]])
