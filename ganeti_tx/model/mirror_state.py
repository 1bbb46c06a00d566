"""Why the two sides of a mirror are not alike, from what each side knows of itself."""

from ganeti_tx.model.base import Wire

SPLIT_BRAIN = "split brain: each side has changes that the other has not"
#: What a side is that has all data.
UP_TO_DATE = "UpToDate"
#: A side without its own part, or about to be: it lives on the other's.
LOST = frozenset({"Diskless", "Failed", "Detaching"})
#: Marks an identifier that was given while the side was primary; it says nothing of the data.
PRIMARY_BIT = 1
#: The identifier of data that were never filled.
NEVER_FILLED = 4


class MirrorState(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """One side that is not alike with the other; connection and disk in DRBD's words.

    @ivar generations: identifiers of the data, as hexadecimal digits: the present ones, those that both sides had last, older ones.
    """

    connection: str
    disk: str
    peer_disk: str
    generations: list[str] = []


def why_apart(here: MirrorState, there: MirrorState | None) -> str:
    """What is wrong on this side, in a few words; more can be told when the other side is known, too."""
    if there is not None and (found := compared(here.generations, there.generations)):
        return f"{here.connection}, {found}"
    return f"{here.connection}, data {here.disk}, the other side's {here.peer_disk}"


def is_split(here: MirrorState, there: MirrorState | None) -> bool:
    """Whether somebody has to say which side's changes are kept: no connection makes the two alike."""
    return there is not None and compared(here.generations, there.generations) == SPLIT_BRAIN


def compared(here: list[str], there: list[str]) -> str:
    """What the identifiers of two sides say; empty if they are the same, or not known."""
    mine, theirs = ([int(each, 16) & ~PRIMARY_BIT for each in side] for side in (here, there))
    if not mine or not theirs or mine[0] == theirs[0]:
        return ""
    if mine[0] == NEVER_FILLED:
        return "never filled"
    if mine[0] in theirs[1:]:
        return "older data than the other side's"
    if theirs[0] in mine[1:]:
        return "newer data than the other side's"
    if set(filter(None, mine)) & set(filter(None, theirs)) - {NEVER_FILLED}:
        return SPLIT_BRAIN
    return "other data than the other side's, of no common generation"
