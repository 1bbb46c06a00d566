"""What is offered for one word."""

from collections.abc import Iterable
from typing import NamedTuple

#: So many words are offered at most.
MOST = 10_000
#: What a candidate ends with that is not whole yet, so that no space follows it.
OPEN_ENDS = ("=", ",", ":")


class Candidate(NamedTuple):
    """A word that may stand there, and what it means, where that is known."""

    word: str
    about: str = ""


class Offer(NamedTuple):
    """All that may stand there; `files`: names of files, too, which the shell knows best."""

    candidates: tuple[Candidate, ...] = ()
    files: bool = False


def words(given: Iterable[str]) -> Offer:
    """Words without meanings."""
    return Offer(tuple(Candidate(str(word)) for word in given))


def begun(offer: Offer, typed: str, ahead: str = "") -> Offer:
    """Those of an offer that begin with what is typed, with what stands ahead of them in the same word.

    A word with a line end or another control character can be on no line, so it is not offered.
    """
    kept = (each for each in offer.candidates if each.word.startswith(typed) and each.word.isprintable())
    whole = sorted({each.word: Candidate(ahead + each.word, each.about) for each in kept}.values())
    return Offer(tuple(whole[:MOST]), offer.files)
