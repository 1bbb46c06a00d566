"""Every document is in the index, and what documents point at is there."""

import re
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "doc"
_ENTRY = re.compile(r"^   ([\w/*-]+)$", re.MULTILINE)
_LINK = re.compile(r":doc:`([\w/-]+)`")
#: A file or folder of the program in a document; names with <...> stand for many.
_PATH = re.compile(r"``((?:ganeti_tx/)?[a-z_]+/[\w/.]+)``")


class DocumentTests(SynchronousTestCase):
    """The folder doc/."""

    def test_index(self) -> None:
        """The index has every document, once, and nothing else."""
        entries = _ENTRY.findall((DOCUMENTS / "index.rst").read_text())
        listed = [path for entry in entries for path in sorted(DOCUMENTS.glob(f"{entry}.rst"))]
        there = set(DOCUMENTS.rglob("*.rst")) - {DOCUMENTS / "index.rst"}
        self.assertEqual((sorted(listed), set(listed) ^ there), (sorted(set(listed)), set()))

    def test_links(self) -> None:
        """What a document points at is there."""
        for path in DOCUMENTS.rglob("*.rst"):
            for target in _LINK.findall(path.read_text()):
                self.assertTrue((path.parent / f"{target}.rst").exists(), f"{path} points at {target}")

    def test_places(self) -> None:
        """Where a page about how it is built names a file of the program, it is there."""
        for path in (DOCUMENTS / "architecture.rst", *DOCUMENTS.glob("checklists/*.rst")):
            text = re.sub(r"^\.\. code-block:: diff\n\n(?:    .*\n|\n)+", "", path.read_text(), flags=re.MULTILINE)
            for place in _PATH.findall(text):
                inside = ROOT / "ganeti_tx" / place.removeprefix("ganeti_tx/")
                found = inside.exists() or inside.with_suffix(".py").exists() or (ROOT / place).exists()
                self.assertTrue(found, f"{path.name} names {place}")

    if not DOCUMENTS.exists():
        skip = "there are no documents beside an installed package"
