"""The page that says which fault produced each code of verification, and what was told, as the tests have found it."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from ganeti_tx.model.verify_codes import WARNINGS, VerifiedObject, VerifyCode
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION, RELEASE_VERSION
from ganeti_tx.test.inprocess.verify_faults.places import DEVCLUSTER, LAB

PAGE = Path(__file__).parents[4] / "doc" / "verify-codes.rst"
HEAD = """\
The codes of verification, each with faults that produce it
===========================================================

The tests do each of these to a cluster in one process (``ganeti_tx/test/inprocess/verify_faults`` has how), run
``gnt-cluster verify --error-codes`` on it, and hold this page to what is told. In the place of LVM and DRBD stands what their
programs printed on a machine, which their drivers read.

Where it says so, a test has the code from real processes, too (``ganeti_tx/test/real/test_verify_codes.py``: a devcluster of four
nodes to which all of that happens), or from machines with LVM and DRBD (``ganeti_tx/test/lab``).

An error makes the job and the command fail; ``--ignore-errors=CODE`` makes a warning of it. Digests and identifiers are left out.
"""
OBJECTS = {
    VerifiedObject.CLUSTER: "the cluster",
    VerifiedObject.GROUP: "a node group",
    VerifiedObject.NODE: "a node",
    VerifiedObject.INSTANCE: "an instance",
}
#: What is another one each time, or with each release.
ALWAYS_NEW = re.compile(
    r"[0-9A-F]{2}(?::[0-9A-F]{2}){9,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    rf"|(?<=master ){re.escape(RELEASE_VERSION)}|(?<=master ){NODE_PROTOCOL_VERSION}"
)
WIDTH = 120

#: A fault in words, and the line with which it was told.
Produced = tuple[str, str]


def section(code: VerifyCode, produced: Sequence[Produced]) -> str:
    """One code."""
    always = ", always a warning" if code in WARNINGS else ""
    lines = [code, "-" * len(code), "", f"About {OBJECTS[code.about]}{always}.{seen(code)}", ""]
    for what, line in produced:
        lines += [f"{what[0].upper()}{what[1:]}::", "", *told(line), ""]
    return "\n".join(lines)


def seen(code: VerifyCode) -> str:
    """Where else it was told."""
    places = [
        *(["in a devcluster"] if code in DEVCLUSTER else []),
        *([f"on machines (``ganeti_tx/test/lab/{LAB[code]}.py``)"] if code in LAB else []),
    ]
    return f" Seen also {' and '.join(places)}." if places else ""


def told(line: str) -> list[str]:
    """A line of verification as a literal block."""
    text = ALWAYS_NEW.sub("...", line)
    return textwrap.wrap(
        text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def page(found: Mapping[VerifyCode, Sequence[Produced]]) -> str:
    """All of it."""
    return "\n".join([HEAD, *(section(code, found[code]) for code in VerifyCode)])


def check(text: str, place: Path) -> None:
    """The page says this. @raise AssertionError: it does not; what it should say is written there then."""
    if not PAGE.exists() or PAGE.read_text() != text:
        place.write_text(text)
        raise AssertionError(f"{PAGE} does not say what the tests have found; that is in {place.resolve()}")
