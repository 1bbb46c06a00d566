"""The words as a shell hands them over, and what it is told of the offer."""

import re
from collections.abc import Iterator, Sequence

from ganeti_tx.cli.completion.offer import Offer

#: So long a command line is read.
MAX_LINE = 2**20
#: At these bash cuts words into several, and the last piece is what it puts the choice in place of.
_MARKS = "=:"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.,:=/+@%-]")
_ESCAPED = re.compile(r"\\(.)|['\"]", re.DOTALL)


def words_of(data: bytes) -> list[str]:
    """The words of a line; each ends with a zero byte."""
    return data.decode("utf-8", "replace").split("\0")[:-1]


def joined(pieces: Sequence[str]) -> list[str]:
    """Words as they were typed, from the pieces of bash's: a mark belongs to what stands on its sides."""
    found: list[str] = []
    glue = False
    for at, piece in enumerate(pieces):
        mark = bool(piece) and not piece.strip(_MARKS)
        if at > 1 and found and (glue or mark):
            found[-1] += piece
        else:
            found.append(piece)
        glue = mark
    return found


def unquoted(word: str) -> str:
    """A word as the command would get it; of quotes that do not end the beginning counts."""
    return _ESCAPED.sub(lambda found: found[1] or "", word)


def bash_lines(offer: Offer, typed: str, last_piece: str) -> Iterator[str]:
    """What bash is to put in place of the last piece, quoted, since it does not quote it itself.

    @param typed: the whole word. Within quotes that were opened only plain words are offered.
    """
    piece = "" if last_piece and not last_piece.strip(_MARKS) else unquoted(last_piece)
    ahead = len(unquoted(typed)) - len(piece)
    in_quotes = last_piece[:1] in ("'", '"')
    for each in offer.candidates:
        if in_quotes and _UNSAFE.search(each.word):
            continue
        yield _UNSAFE.sub(lambda found: f"\\{found[0]}", each.word[ahead:])


def lines_with_meanings(offer: Offer) -> Iterator[str]:
    """A word and what it means, for shells that show this and quote themselves."""
    for word, about in offer.candidates:
        shown = " ".join("".join(each if each.isprintable() else " " for each in about).split())
        yield f"{word}\t{shown}" if shown else word
