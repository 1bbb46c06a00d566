"""The page of a migration under Xen, as the machines told of it."""

from collections.abc import Mapping
from pathlib import Path

NAME = "lab-xen.rst"
HEAD = """\
A paravirtualised guest under Xen, and its live migration
=========================================================

``bin/lab campaign --pages`` writes this page (``ganeti_tx/test/lab/test_xen.py``). Two machines that Xen has booted, emulated in
software, are the nodes of a cluster; the instance has no disks, and counts twice a second as long as it runs. So all times are
those of an emulated processor.
"""


def write(pages: Path, said: Mapping[str, str]) -> None:
    """What was said, by what it was said of."""
    parts = [f"{title}::\n\n{indented(text)}\n" for title, text in said.items()]
    (pages / NAME).write_text("\n".join([HEAD, *parts]))


def indented(text: str) -> str:
    """As a literal block."""
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())
