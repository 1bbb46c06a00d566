"""The pages of what was done under Xen, as the machines told of it."""

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen


@frozen
class XenPage:
    """One page.

    @ivar name: of its file.
    @ivar instance: what its instance is and does.
    """

    name: str
    title: str
    instance: str

    def write(self, pages: Path, test: str, said: Mapping[str, str]) -> None:
        """What was said, by what it was said of; `test` is the file of the test that writes it."""
        parts = [f"{title}::\n\n{indented(text)}\n" for title, text in said.items()]
        (pages / self.name).write_text("\n".join([self._head(test), *parts]))

    def _head(self, test: str) -> str:
        return f"""\
{self.title}
{"=" * len(self.title)}

``bin/lab campaign --pages`` writes this page (``ganeti_tx/test/lab/{test}``). Two machines that Xen has booted, emulated in
software, are the nodes of a cluster; {self.instance}. So all times are
those of an emulated processor.
"""


MIGRATION = XenPage(
    "lab-xen.rst",
    "A paravirtualised guest under Xen, and its live migration",
    "the instance has no disks, and counts twice a second as long as it runs",
)
DISKS = XenPage(
    "lab-xen-disks.rst",
    "Disks of a paravirtualised guest under Xen",
    "the instance has a mirrored disk, on which it writes each of its counts, and reads it",
)
FULL = XenPage(
    "lab-xen-full.rst",
    "A fully virtualised guest under Xen, and its live migration",
    "the instance is of one sector of its disk, and counts on its serial line",
)


def indented(text: str) -> str:
    """As a literal block."""
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())
