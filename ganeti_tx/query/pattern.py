"""Regular expressions of filters, kept from running away.

Python's own matcher backtracks, and a pattern comes from whoever may ask. So a pattern is judged before it runs: repeats
inside repeats and back-references are refused, and what is left has a bound on its steps, which grows with the length
of the text and with the number of repeats and alternatives.
"""

import math
import re

from attrs import frozen

from ganeti_tx.errors import ParameterError, QueryFilterParseError

MAX_PATTERN = 1000
#: Steps that one search may take at worst; about a second.
MAX_STEPS = 20_000_000
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
        if self.steps(len(text)) > MAX_STEPS:
            size = f"{len(text)} characters with {self.repeats} repeats"
            raise ParameterError(f"regular expression {self.compiled.pattern!r} is too costly for a text of {size}")
        return self.compiled.search(text) is not None


def compile_pattern(text: str) -> Pattern:
    """A pattern that may run. @raise QueryFilterParseError: it is no pattern, too long, or could run away."""
    if len(text) > MAX_PATTERN:
        raise QueryFilterParseError(f"regular expression of {len(text)} characters; allowed are {MAX_PATTERN}")
    try:
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
            unbounded, ways = weight(part)
            repeats, choices = repeats + unbounded, choices * ways
        closed = False
    return repeats, choices


def weight(part: re.Match[str]) -> tuple[int, int]:
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
