"""Each operator with each type of value in a field, and each type of value in the filter."""

from collections.abc import Callable
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError, ParameterError, QueryFilterParseError
from ganeti_tx.model.enums import AllocPolicy
from ganeti_tx.query.language.field import Field, Gives, Kind, Match, by_name, computed
from ganeti_tx.query.language.filter import Parser
from ganeti_tx.query.language.slices import at_once
from ganeti_tx.test.query.facts_table import FACTS

#: A field of each type with what it holds.
HELD: dict[str, Any] = {
    "text": "b",
    "host": "b.example.com",
    "number": 2,
    "float": 2.5,
    "true": True,
    "false": False,
    "texts": ["b", "c"],
    "numbers": [2, 3],
    "empty": [],
    "object": {"b": 2},
    "time": [2, 999_999],
    "none": None,
}
MATCH = {"host": Match.HOSTNAME, "time": Match.TIMESTAMP}
#: What each operator answers for a text and for a number, field by field: a word of T (yes), F (no) or E (does not fit).
TEXT, NUMBER = "b", 2
ANSWERS = {
    # sign: (with "b", with 2), each in the order of HELD
    "==": ("TTFFFFFFFFFT", "FFTFFFFFFFTT"),
    "=": ("TTFFFFFFFFFT", "FFTFFFFFFFTT"),
    "!=": ("FFTTTTTTTTTF", "TTFTTTTTTTFF"),
    "<": ("FFEEEEEEEEET", "EEFFEEEEEEFT"),
    "<=": ("TFEEEEEEEEET", "EETFEEEEEETT"),
    ">": ("FTEEEEEEEEET", "EEFTEEEEEEFT"),
    ">=": ("TTEEEEEEEEET", "EETTEEEEEETT"),
    "=~": ("TTEEEEEEEEET", "PPPPPPPPPPPP"),
    "=[]": ("EEEEEETFFEFT", "EEEEEEFTFETT"),
}
#: What was told in Python's words once.
TOLD: dict[str, Callable[[Any], Any]] = {
    "list": lambda row: ["a"],
    "true": lambda row: True,
    "status": lambda row: AllocPolicy.PREFERRED,
}
TRUTH = "TTTTTFTTFTTT"


def field_of(name: str) -> Field:
    """The field of that name; it holds the same whatever the row."""
    return computed(
        name, name, Kind.OTHER, "", lambda row: HELD[name], gives=Gives.MAYBE, match=MATCH.get(name, Match.EXACT)
    )


class TypeTests(SynchronousTestCase):
    """The whole table."""

    def setUp(self) -> None:
        self.parser = Parser(by_name(list(map(field_of, HELD))))

    def judged(self, condition: object) -> str:
        """What the filter says of the one row: yes, no, or that it does not fit, before the row is seen or then."""
        try:
            term = self.parser.parse(condition)
        except QueryFilterParseError as error:
            self.error: GanetiError = error
            return "P"
        try:
            (answer,) = at_once(term.bind(lambda field: field.reader(None))([None]))
        except ParameterError as error:
            self.error = error
            return "E"
        return "T" if answer else "F"

    def test_comparisons(self) -> None:
        """Each fits or does not, and the error names the operator, the field and the value."""
        for sign, words in ANSWERS.items():
            for value, word in zip((TEXT, NUMBER), words, strict=True):
                self.assertEqual("".join(self.judged([sign, name, value]) for name in HELD), word, f"{sign} {value!r}")
                for name, answer in zip(HELD, word, strict=True):
                    if answer in "EP":
                        self.judged([sign, name, value])
                        for named in (sign, repr(name), repr(value)):
                            self.assertIn(named, str(self.error))

    def test_told(self) -> None:
        """A value is told as clients see it, with what can be done with such values."""
        for sign, name, told in (
            (">", "list", "holds a list; of a list =[] ('VALUE' in FIELD) tells"),
            ("=~", "true", "holds true; ? (the field alone) tells whether it is true"),
            ("=[]", "status", "field 'status' holds 'preferred'; it is for lists"),
        ):
            field = computed(name, name, Kind.OTHER, "", TOLD[name])
            term = Parser(by_name([field])).parse([sign, name, TEXT])
            error = self.assertRaises(ParameterError, at_once, term.bind(lambda field: field.reader(None))([None]))
            self.assertIn(told, str(error))

    def test_negated(self) -> None:
        """The opposite of each is its opposite, with or without a value, and what does not fit does so there, too."""
        opposite = str.maketrans("TF", "FT")
        for sign, words in ANSWERS.items():
            for value, word in zip((TEXT, NUMBER), words, strict=True):
                found = "".join(self.judged(["!", [sign, name, value]]) for name in HELD)
                self.assertEqual(found, word.translate(opposite), sign)

    def test_truth(self) -> None:
        """Zero, false, and what is empty are not true; what has no value passes."""
        self.assertEqual("".join(self.judged(["?", name]) for name in HELD), TRUTH)

    def test_all_operators(self) -> None:
        """No operator of the table is left out."""
        self.assertEqual({*ANSWERS, "?", "!", "&", "|"}, set(FACTS["operators"]))

    def test_other_values(self) -> None:
        """Values of other types are refused by each operator, which names itself, the field and the value."""
        for sign in ANSWERS:
            for value in (1.5, True, None):
                self.assertEqual(self.judged([sign, "text", value]), "P")
                for named in (sign, "'text'", repr(value)):
                    self.assertIn(named, str(self.error))
