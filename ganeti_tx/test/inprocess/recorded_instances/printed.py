"""What a command has done, and when two of them have done the same.

What is another one in each cluster by its nature is left aside: times, identifiers, addresses of interfaces, numbers of jobs, where
definitions of operating systems lie, and how wide columns are and where questions are folded, which names make of other lengths.
"""

import re
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.test_recorded_output import plain, shape

#: A number of a job that stands alone, or behind what is left of a sentence.
JOB_ID = re.compile(r"^(JobID: )?\d+$|^\d+(?=: )|(?<=^Job )\d+(?= has failed)", re.MULTILINE)
#: What comes between the steps of transfers, which run at the same time: whether it is seen, depends on when one looks.
SEEN = re.compile(r"disk/\d+ is (?:receiving data on|sending data on) ")
#: Of disks that are copied at the same time one is ahead of the other now and then.
TRANSFER = re.compile(r"disk/\d+ (?:is now listening|finished)")
#: What a machine has free.
FREE = re.compile(r"(?<=available )\d+(?= MiB)")
TIME = re.compile(r"^(?:<TIME ctime>|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}) ", re.MULTILINE)


@frozen
class Printed:
    """How it ended, what it wrote, what it complained of; at a terminal both are one."""

    status: int
    out: str
    err: str


def as_recorded(line: Mapping[str, Any]) -> Printed:
    """What a line of the record says, with the names of this cluster."""
    out = line.get("stdout", line.get("terminal", ""))
    return meaningful(Printed(line["status"], recorded.here(out), recorded.here(line.get("stderr", ""))), line)


def meaningful(printed: Printed, line: Mapping[str, Any]) -> Printed:
    """Without what is another one each time."""
    out, err = (FREE.sub("N", text) for text in (printed.out, printed.err))
    out, err = (JOB_ID.sub(r"\1N", TIME.sub("<TIME ctime> ", text)) for text in (out, err))
    if "typed" in line:
        out = " ".join(plain(row) for row in out.splitlines())  # a question is folded where its names let it be
    rows = [row for row in out.splitlines() if not SEEN.search(row)]
    ordered = iter(sorted(row for row in rows if TRANSFER.search(row)))
    out = "".join(f"{next(ordered) if TRANSFER.search(row) else row}\n" for row in rows)
    return evolve(printed, out=out, err=err)


def alike(wanted: Printed, found: Printed) -> bool:
    """Whether what was found is what is wanted, which has placeholders."""
    return wanted.status == found.status and _same(wanted.out, found.out) and _same(wanted.err, found.err)


def apart(wanted: Printed, found: Printed) -> str:
    """The rows of each that the other does not have."""
    there, here = ([str(each.status), *(each.out + each.err).splitlines()] for each in (wanted, found))
    lacking = [row for row in there if not any(_same(row, shown) for shown in here)]
    more = [shown for shown in here if not any(_same(row, shown) for row in there)]
    return "".join([*(f"  - {row}\n" for row in lacking), *(f"  + {row}\n" for row in more)])


def _same(wanted: str, found: str) -> bool:
    there, here = wanted.splitlines(), found.splitlines()
    return len(there) == len(here) and all(
        plain(each) == plain(shown) or shape(each).fullmatch(plain(shown)) is not None
        for each, shown in zip(there, here, strict=True)
    )
