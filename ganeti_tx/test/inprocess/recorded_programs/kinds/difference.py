"""One kind of difference, and the ways in which it is taken out of what was printed."""

import re
from collections.abc import Callable

from attrs import evolve, frozen

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed

#: Before what a job says; theirs and ours.
TIME = re.compile(r"^(?:<TIME ctime>|\w{3} \w{3} [\d ]\d [\d:]+ \d{4})", re.MULTILINE)

UUID = re.compile(recorded.FORMS["UUID"])


@frozen
class Difference:
    """One kind. @ivar why: a sentence for an administrator. @ivar without: what was printed, without the difference."""

    key: str
    why: str
    without: Callable[[Printed], Printed]


def dropping(pattern: str, flags: re.RegexFlag = re.MULTILINE) -> Callable[[Printed], Printed]:
    """Without whole lines that have something in them."""
    told = re.compile(f"^.*(?:{pattern}).*\n?", flags)
    return lambda printed: evolve(printed, out=told.sub("", printed.out), err=told.sub("", printed.err))


def replacing(pattern: str, by: str = "") -> Callable[[Printed], Printed]:
    """Without parts of lines."""
    told = re.compile(pattern, re.MULTILINE)
    return lambda printed: evolve(printed, out=told.sub(by, printed.out), err=told.sub(by, printed.err))


def in_order(printed: Printed) -> Printed:
    """Lines without their order."""
    return evolve(printed, out="\n".join(sorted(UUID.sub("<UUID>", TIME.sub("<TIME>", printed.out)).splitlines())))
