"""What somebody meant who mistyped a word; what it takes is loaded for who did."""

from collections.abc import Iterable, Sequence
from importlib import import_module

#: So many are named.
_NAMED = 3
#: Words longer than this are nobody's slip.
_LONGEST = 255
#: Words shorter than this are a slip away from too many.
_SHORTEST = 3
#: So many are compared more closely when none is one slip away; that takes longer.
_COMPARED = 2000
#: How much two words must have in common, and by how many letters they may differ in length.
_LIKENESS = 0.75
_LENGTHS = 3


def nearest(typed: str, known: Iterable[str]) -> list[str]:
    """The known words that are nearest to it, best first; none when it is like none of them.

    A name of a host may be typed by its first parts.
    """
    if not _SHORTEST <= len(typed) <= _LONGEST:
        return []
    shortened = [(_first_parts(name, typed.count(".")), name) for name in known]
    near = [name for short, name in shortened if one_slip(typed.lower(), short)]
    return (near or _alike(typed.lower(), [(s, n) for s, n in shortened if abs(len(s) - len(typed)) <= _LENGTHS]))[
        :_NAMED
    ]


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """The question; empty when nothing is near."""
    found = nearest(typed, known)
    return f"did you mean {' or '.join(found)}?" if found else ""


def one_slip(typed: str, meant: str) -> bool:
    """Whether one letter more, less, another, or two in each other's place make the one of the other."""
    if abs(len(typed) - len(meant)) > 1:
        return False
    same = next((at for at, (left, right) in enumerate(zip(typed, meant, strict=False)) if left != right), 0)
    if not same and typed[:1] == meant[:1]:
        return True  # the one begins with the other
    left, right = typed[same:], meant[same:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return swapped or left[1:] == right or left == right[1:] or left[1:] == right[1:]


def _first_parts(name: str, dots: int) -> str:
    return ".".join(name.lower().split(".")[: dots + 1])


def _alike(typed: str, shortened: Sequence[tuple[str, str]]) -> list[str]:
    named = dict(shortened[:_COMPARED])
    found = import_module("difflib").get_close_matches(typed, named, _NAMED, _LIKENESS)
    return [named[short] for short in found]
