"""Regular expressions of filters, kept from running away.

Python's own matcher backtracks, cannot be interrupted, and a pattern comes from whoever may ask. So a pattern is judged before
it runs: repeats inside repeats and back-references are refused, and what is left has a bound on its steps, which grows with the
length of the text and with the number of repeats and alternatives. Compiling takes time, too: the patterns of one filter have a
limit together.
"""

import math
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache

from attrs import frozen

from ganeti_tx.errors import ParameterError, QueryFilterParseError

MAX_PATTERN = 1000
#: Steps that one search may take at worst; some 20 ms, as one takes a nanosecond or two.
MAX_STEPS = 20_000_000
#: What the patterns of one filter may weigh together; compiling them takes some 50 ms at worst.
MAX_WEIGHT = 25_000
#: The weight of a pattern besides its characters, and of a set that reaches beyond Latin-1, for which the compiler makes a map.
OF_PATTERN, OF_WIDE_SET = 50, 1500
#: The largest count in {m,n}.
MAX_COUNT = 100

#: What matters of a pattern: escapes and classes as wholes, group brackets, repeats, alternatives. A comment or the
#: flag x could stand between a group and its repeat, so neither is taken.
_PARTS = re.compile(
    r"""(?P<back>\\[1-9]|\(\?P=|\(\?\() | (?P<comment>\(\?\#) | (?P<verbose>\(\?[a-zA-Z-]*x) | (?P<flags>\(\?[a-zA-Z]+\))
      | (?P<escape>\\.) | (?P<set>\[\^?\]?(?:\\.|[^\]\\])*\]) | (?P<open>\((?:\?[^)]*?[:=!<>])?|\((?=\?)) | (?P<close>\))
      | (?P<repeat>[*+]|\{(?P<low>[0-9]*)(?P<comma>,?)(?P<high>[0-9]*)\}) | (?P<option>\?) | (?P<either>\|)""",
    re.VERBOSE | re.DOTALL,
)
_WIDE = re.compile(r"\\[uUN]|[^\x00-\xff]")
_REFUSED = {"back": "a back-reference", "comment": "a comment", "verbose": "the flag x"}


@frozen
class Pattern:
    """A compiled pattern; `repeats` counts those without a bound, `choices` the ways that the others multiply to."""

    compiled: re.Pattern[str]
    repeats: int
    choices: int

    def steps(self, length: int) -> int:
        """A bound on the steps that a search takes in a text of so many characters."""
        return self.choices * math.comb(length + self.repeats + 1, self.repeats + 1)

    def search(self, text: str) -> bool:
        """Whether the pattern is found anywhere. @raise ParameterError: it could take too long on this text."""
        self._check_steps(text)
        return self.compiled.search(text) is not None

    def is_whole(self, text: str) -> bool:
        """Whether it is all of a text. @raise ParameterError: that could take too long."""
        self._check_steps(text)
        return self.compiled.fullmatch(text) is not None

    def _check_steps(self, text: str) -> None:
        if self.steps(len(text)) > MAX_STEPS:
            size = f"{len(text)} characters with {self.repeats} repeats"
            raise ParameterError(f"regular expression {self.compiled.pattern!r} is too costly for a text of {size}")


def check_weight(texts: Iterable[str]) -> None:
    """@raise QueryFilterParseError: the patterns together would take too long to compile."""
    total = 0
    for count, text in enumerate(texts, 1):
        total += weight(text[: MAX_PATTERN + 1])
        if total > MAX_WEIGHT:
            raise QueryFilterParseError(
                f"the first {count} regular expressions weigh more than {MAX_WEIGHT} together ({OF_PATTERN} for each, 1 for a "
                f"character, {OF_WIDE_SET} for a set with characters beyond Latin-1); use fewer, or ask several times"
            )


def weight(text: str) -> int:
    """How long a pattern takes to compile, in characters."""
    sets = (part["set"] for part in _PARTS.finditer(text) if part["set"])
    return OF_PATTERN + len(text) + OF_WIDE_SET * sum(bool(_WIDE.search(each)) for each in sets)


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> Pattern:
    """A pattern that may run. @raise QueryFilterParseError: it is no pattern, too long, or could run away."""
    if len(text) > MAX_PATTERN:
        raise QueryFilterParseError(f"regular expression of {len(text)} characters; allowed are {MAX_PATTERN}")
    check_weight([text])
    try:
        with warnings.catch_warnings():  # of what another version of Python may understand otherwise
            warnings.simplefilter("ignore")
            compiled = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise QueryFilterParseError(f"invalid regular expression {text!r}: {error}") from None
    return Pattern(compiled, *cost(text))


def cost(text: str) -> tuple[int, int]:
    """The repeats without a bound, and the product of all other choices.

    @raise QueryFilterParseError: nested repeats, or what is not taken.
    """
    repeats, choices = 0, 1
    groups: list[bool] = [False]  # for each open group, whether it holds a choice
    closed = False  # whether the part just read is a group that holds a choice
    for part in _PARTS.finditer(text):
        kind = part.lastgroup if part.lastgroup not in {"low", "comma", "high"} else "repeat"
        if kind in _REFUSED:
            raise QueryFilterParseError(f"regular expression {text!r} has {_REFUSED[kind]}, which is not allowed")
        if kind == "open":
            groups.append(False)
        elif kind == "close" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] = groups[-1] or closed
            after_group = part.end()
            continue
        elif kind in {"repeat", "option", "either"}:
            groups[-1] = True
            if kind == "repeat" and closed and part.start() == after_group:
                raise QueryFilterParseError(
                    f"regular expression {text!r} repeats a group that holds repeats or choices"
                )
            unbounded, ways = ways_of(part)
            repeats, choices = repeats + unbounded, choices * ways
        closed = False
    return repeats, choices


def ways_of(part: re.Match[str]) -> tuple[int, int]:
    """How many unbounded repeats a part adds, and into how many ways it splits what follows."""
    text = part.group()
    if text in {"*", "+"} or (text.startswith("{") and part["comma"] and not part["high"]):
        return 1, 1
    if text in {"?", "|"}:
        return 0, 2
    most = int(part["high"] or part["low"] or 1)
    if most > MAX_COUNT:
        raise QueryFilterParseError(f"regular expression repeats {text}; the highest count allowed is {MAX_COUNT}")
    return 0, most + 1 if part["comma"] else 1
