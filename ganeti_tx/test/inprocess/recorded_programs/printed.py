"""What a command has done, and in what two of them differ."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from attrs import evolve, frozen

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.recorded_programs.figures import same_figures, without_job_id
from ganeti_tx.test.inprocess.test_recorded_output import plain, shape

#: Before the kind of an error.
KIND = re.compile(r"^error type: (\w+)", re.MULTILINE)
#: The kind of what is wrong with the words of a command, which need not be told.
OF_WORDS = "wrong_input"


@frozen
class Printed:
    """How it ended, what it wrote, what it complained of; at a terminal both are one."""

    status: int
    out: str
    err: str


def as_recorded(line: Mapping[str, Any], jobs: Mapping[str, str]) -> Printed:
    """What a line of the record says, with the names of this cluster. @param jobs: numbers of jobs, and what they are here."""
    texts = (line.get("stdout", line.get("terminal", "")), line.get("stderr", ""))
    out, err = (renumbered(recorded.here(text), jobs) for text in texts)
    return Printed(line["status"], out, err)


def renumbered(text: str, jobs: Mapping[str, str]) -> str:
    """With other numbers of jobs."""
    return re.sub(r"(?<![\w.])\d+(?![\w.])", lambda found: jobs.get(found[0], found[0]), text) if jobs else text


def asked(printed: Printed) -> Printed:
    """What was asked at a terminal, whose lines end elsewhere when names are longer."""
    return evolve(printed, out=" ".join(printed.out.split()))


def told(printed: Printed, command: str) -> Printed:
    """Without what is another one in each cluster."""
    return evolve(printed, out=same_figures(printed.out, command), err=without_job_id(printed.err))


def alike(wanted: Printed, found: Printed, command: str) -> bool:
    """Whether a command has done as recorded; of a refusal the kind of the error is compared, as our words tell what helps."""
    wanted, found = told(wanted, command), told(found, command)
    if wanted.status != found.status or not _same_lines(wanted.out, found.out):
        return False
    return _same_lines(wanted.err, found.err) if wanted.status == 0 else _same_kind(wanted.err, found.err)


def differences(wanted: Printed, found: Printed, command: str) -> list[str]:
    """What is not alike."""
    if alike(wanted, found, command):
        return []
    if wanted.status != found.status:
        return [f"ended with {found.status} instead of {wanted.status}: {found.out}{found.err}"]
    wanted, found = told(wanted, command), told(found, command)
    wrong = _apart("out", wanted.out, found.out)
    if wanted.status == 0:
        return [*wrong, *_apart("err", wanted.err, found.err)]
    return wrong if _same_kind(wanted.err, found.err) else [*wrong, f"another kind of error: {found.err}{wanted.err}"]


def _same_kind(wanted: str, found: str) -> bool:
    kinds = KIND.findall(wanted)
    return not kinds or kinds == (KIND.findall(found) or [OF_WORDS])


#: Lines come again and again; to make what they must look like takes longest of all that is done here.
_like = lru_cache(8192)(shape)
_plain = lru_cache(8192)(plain)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _same_lines(wanted: str, found: str) -> bool:
    there, here = _lines(wanted), _lines(found)
    return len(here) == len(there) and all(map(_same, there, here))


def _same(wanted: str, found: str) -> bool:
    return _like(wanted).fullmatch(_plain(found)) is not None


def _apart(stream: str, wanted: str, found: str) -> list[str]:
    """The lines that are too many and that are missing; if there are none of either, those that are elsewhere."""
    if _same_lines(wanted, found):
        return []
    there, here = _lines(wanted), _lines(found)
    more = [f"{stream} + {line}" for line in here if not any(_same(each, line) for each in there)]
    lacking = [f"{stream} - {each}" for each in there if not any(_same(each, line) for line in here)]
    moved = [f"{stream} {line!r} is where {each!r} was" for line, each in zip(here, there, strict=False)]
    return [*more, *lacking] or moved or [f"{stream} is empty on one side"]
