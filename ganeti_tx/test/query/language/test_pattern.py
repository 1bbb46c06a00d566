"""Regular expressions are judged before they run."""

import re
import warnings

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ParameterError, QueryFilterParseError
from ganeti_tx.query.language.pattern import MAX_COUNT, MAX_PATTERN, MAX_WEIGHT, check_weight, compile_pattern

#: Patterns that filters are really made of, the first of them from globs, with a text that each finds.
GOOD = {
    r"^web.*\.example\.com$": "web1.example.com",
    r"^.*prod.*db.*$": "the-prod-old-db-1",
    r"(?i)WEB": "old-web1",
    r"(?s)a.b": "a\nb",
    r"a|b|c": "c",
    r"(?:a|b)c": "bc",
    r"(?P<x>a)b": "ab",
    r"(?<=a)b+": "abb",
    r"(?=a)a": "a",
    r"(?>ab)c": "abc",
    r"(?:ab){2}": "abab",
    r"a{2,3}b": "aab",
    r"[]a*+]x": "*x",
    r"\(a\)": "(a)",
    r"\\1": "\\1",
    r"\(?x": "x",
    r"": "anything",
}
#: Patterns whose time may grow beyond all bounds.
RUNAWAYS = [
    r"(a+)+$",
    r"(a*)*$",
    r"(?:a|a)*$",
    r"(a?){50}",
    r"((a+))+$",
    r"(?:(?:a+)b?)+$",
    r"(a+){2,}$",
    r"(?P<n>a+)+$",
    r"(?i:a+)+$",
    r"((a{9}){9}){9}",
    r"(?x)(a+) +$",
    r"(?x:(a+) +)$",
    r"(?ix)(a+) +$",
    r"(a+)(?#:)+$",
    r"(a+)(?#()+$",
    r"(\(?i)(?:a+)(?#:)+$",
]


class PatternTests(SynchronousTestCase):
    """What may run, and how far."""

    def test_good(self) -> None:
        """Usual patterns are found anywhere in a text."""
        for text, found in GOOD.items():
            self.assertTrue(compile_pattern(text).search(found), text)
        self.assertFalse(compile_pattern("^b").search("ab"))

    def test_runaways(self) -> None:
        """A repeat of what holds repeats or choices is refused, however it is written."""
        for text in RUNAWAYS:
            re.compile(text)
            self.assertRaises(QueryFilterParseError, compile_pattern, text)

    def test_back_references(self) -> None:
        """Back-references and conditions are refused."""
        for text in (r"(a)\1", r"(?P<x>a)(?P=x)", r"(a)?(?(1)b|c)"):
            self.assertIn("back-reference", str(self.assertRaises(QueryFilterParseError, compile_pattern, text)))

    def test_no_pattern(self) -> None:
        """What is no pattern is refused with the reason."""
        for text in ("(", "*", "[", "a{3,2}", "(?P<1>a)", "a**"):
            self.assertIn(
                "invalid regular expression", str(self.assertRaises(QueryFilterParseError, compile_pattern, text))
            )

    def test_quiet(self) -> None:
        """Python's warnings about a pattern, with a path of its source, reach nobody."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertTrue(compile_pattern("quiet[[]").search("quiet["))
        self.assertEqual(said, [])

    def test_length(self) -> None:
        """A pattern has a size limit."""
        compile_pattern("a" * MAX_PATTERN)
        self.assertRaises(QueryFilterParseError, compile_pattern, "a" * (MAX_PATTERN + 1))

    def test_compiling(self) -> None:
        """What takes long to compile is refused before it is: many patterns, and sets with characters from everywhere."""
        for fits in (400 * ["web"], ["x" * MAX_PATTERN] * 20, ["(?i)[\\u0100-\uffff]"] * 10):
            check_weight(fits)
        for heavy in (1000 * ["web"], ["x" * MAX_PATTERN] * 30, ["(?i)[\\u0100-\\uffff]"] * 30):
            text = str(self.assertRaises(QueryFilterParseError, check_weight, heavy))
            self.assertIn(str(MAX_WEIGHT), text)
            self.assertIn("use fewer", text)
        for each in ("[a-\uffff]", r"[a-\uffff]", r"[\U00010000-\U0010ffff]"):
            self.assertRaises(QueryFilterParseError, compile_pattern, "(?i)" + each * 30)

    def test_counts(self) -> None:
        """A count has a limit."""
        compile_pattern(f"a{{{MAX_COUNT}}}")
        self.assertRaises(QueryFilterParseError, compile_pattern, f"a{{{MAX_COUNT + 1}}}")
        self.assertRaises(QueryFilterParseError, compile_pattern, f"a{{1,{MAX_COUNT + 1}}}")

    def test_cost(self) -> None:
        """Many repeats over a long text are refused when they meet; over a short one they run."""
        pattern = compile_pattern(".*a" * 6)
        self.assertTrue(pattern.search("aaaaaa"))
        self.assertRaises(ParameterError, pattern.search, "b" * 200)

    def test_many_choices(self) -> None:
        """Choices that multiply count as steps."""
        self.assertRaises(ParameterError, compile_pattern("a?" * 30 + "a" * 30).search, "a" * 30)
