"""Ways of making two outcomes the same that differ in one respect."""

import re
from collections.abc import Callable

from attrs import evolve

from ganeti_tx.test.inprocess.recorded_instances.printed import Printed
from ganeti_tx.test.inprocess.test_recorded_output import plain, shape

#: What the record has, and what was found.
Pair = tuple[Printed, Printed]
Without = Callable[[Pair], Pair]
KIND = re.compile(r"error type: (\w+)")
WRONG_INPUT = "wrong_input"
#: What stands around the sentence: the kind of a failure, and of the error; what may have been meant.
HEAD = re.compile(
    r"Failure: (?:prerequisites not met for this operation|command execution error):|error type: \w+, error details:"
    r"|Did you mean .*"
)
#: Where the words of a refusal begin, which come last of all that is told.
REFUSAL = re.compile(r"(?:Failure: |Parameter Error: |Usage ).*", re.DOTALL)


def words(pair: Pair) -> Pair:
    """Of a refusal only the kind of the error, where Ganeti tells one; that words are wrong, ours do not always tell."""
    return without_error(pair) if same_refusal(pair) else pair


def same_refusal(pair: Pair) -> bool:
    """Whether both are refused with one status and one kind, if Ganeti tells a kind."""
    wanted, found = pair
    there, here = (set(KIND.findall(each.out + each.err)) for each in pair)
    same = not there or there | {WRONG_INPUT} == here | {WRONG_INPUT}
    return bool(wanted.status) and wanted.status == found.status and same


def without_error(pair: Pair) -> Pair:
    """Both without what they complain of."""
    first, second = (evolve(each, out=REFUSAL.sub("", each.out), err="") for each in pair)
    return first, second


def helped(pair: Pair) -> Pair:
    """The same sentence, to which ours add something."""
    there, here = (" ".join(HEAD.sub("", each.err).split()) for each in pair)
    return without_error(pair) if same_refusal(pair) and shape(there.rstrip(".")).match(plain(here)) else pair


def nothing(pair: Pair) -> Pair:
    """Nothing is compared."""
    return evolve(pair[0], status=0, out="", err=""), evolve(pair[1], status=0, out="", err="")


def lines(pattern: str) -> Without:
    """Without the lines, in what is written, that have something in them."""
    wanted = re.compile(pattern)

    def without(pair: Pair) -> Pair:
        first, second = (
            evolve(each, out="".join(row for row in each.out.splitlines(keepends=True) if not wanted.search(row)))
            for each in pair
        )
        return first, second

    return without


def replaced(pattern: str, by: str = "") -> Without:
    """With something else for something, in what is written."""
    wanted = re.compile(pattern, re.MULTILINE)

    def without(pair: Pair) -> Pair:
        first, second = (evolve(each, out=wanted.sub(by, each.out)) for each in pair)
        return first, second

    return without


def refused(pair: Pair) -> Pair:
    """Only that both are refused."""
    return nothing(pair) if pair[0].status == pair[1].status != 0 else pair


def shown(pair: Pair) -> Pair:
    """Without what a list of commands says of them."""
    return replaced(r"(?s)^.*$")((evolve(pair[0], err=""), evolve(pair[1], err="")))


def descriptions(pair: Pair) -> Pair:
    """Without those of fields: their column, which is the last one."""
    first, second = (evolve(each, out=_left_of(each.out, "Description")) for each in pair)
    return first, second


def _left_of(text: str, title: str) -> str:
    rows = text.splitlines()
    width = rows[0].find(title) if rows else 0
    return "".join(f"{row[:width]}\n" for row in rows)


def by_name(pair: Pair) -> Pair:
    """Instances by their names."""
    first, second = (evolve(each, out="".join(sorted(re.split(r"^(?=- )", each.out, flags=re.M)))) for each in pair)
    return first, second


def interfaces_sorted(pair: Pair) -> Pair:
    """What is told of interfaces in any order."""
    first, second = (evolve(each, out="".join(sorted(each.out.splitlines(keepends=True)))) for each in pair)
    return first, second
