"""Every document is in the index, and what documents point at is there."""

import re
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "doc"
_ENTRY = re.compile(r"^   ([\w/*-]+)$", re.MULTILINE)
_LINK = re.compile(r":doc:`([\w/-]+)`")
#: A file or folder of the program in a document; names with <...> stand for many.
_PATH = re.compile(r"``((?:ganeti_tx/)?[a-z_]+/[\w/.]+)``")
#: A name of the program in a document, as classes and messages have them.
_NAME = re.compile(r"``([A-Z][a-z]+[A-Z]\w+)``")
_DIFF = re.compile(r"^\.\. code-block:: diff\n\n(?:    .*\n|\n)+", re.MULTILINE)


def pages() -> Iterator[tuple[Path, str]]:
    """Each page with its text, without patches."""
    for path in (ROOT / "README.md", *DOCUMENTS.rglob("*.rst")):
        yield path, _DIFF.sub("", path.read_text())


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
        """Where a page names a file of the program, it is there."""
        for path, text in pages():
            for place in _PATH.findall(text):
                inside = ROOT / "ganeti_tx" / place.removeprefix("ganeti_tx/")
                found = inside.exists() or inside.with_suffix(".py").exists() or (ROOT / place).exists()
                self.assertTrue(found, f"{path.name} names {place}")

    def test_names(self) -> None:
        """Where a page names a class, a method or a message of the program, its sources have that name."""
        sources = (*(ROOT / "ganeti_tx").rglob("*.py"), *(ROOT / "etc").rglob("*.service"))
        words = set(re.findall(r"\w+", " ".join(path.read_text() for path in sources)))
        missing = {(path.name, name) for path, text in pages() for name in _NAME.findall(text) if name not in words}
        self.assertEqual(missing, set())

    if not DOCUMENTS.exists():
        skip = "there are no documents beside an installed package"
