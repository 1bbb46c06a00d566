"""One checklist as it is written: how many files it says a new thing touches, its example as a patch, and the tests of that."""

import re
from pathlib import Path

from attrs import frozen

CHECKLISTS = Path(__file__).parents[3] / "doc/checklists"
_COUNT = re.compile(r"^Files to touch: \*\*(\d+)\*\*", re.MULTILINE)
_TESTS = re.compile(r"^The example's tests: ``([\w. ]+)``", re.MULTILINE)
_PATCH = re.compile(r"^\.\. code-block:: diff\n\n((?:    .*\n|\n)+)", re.MULTILINE)
_TOUCHED = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)


@frozen
class Checklist:
    """@ivar tests: dotted names of what the example's own tests are in."""

    name: str
    count: int
    patch: str
    tests: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> "Checklist":
        """@raise ValueError: something is missing in it."""
        text = path.read_text()
        count, tests, patch = _COUNT.search(text), _TESTS.search(text), _PATCH.search(text)
        if count is None or tests is None or patch is None:
            raise ValueError(f"{path} needs a number of files, an example as a patch, and its tests")
        lines = (line.removeprefix("    ") for line in patch[1].rstrip("\n").split("\n"))
        return cls(path.stem, int(count[1]), "\n".join(lines) + "\n", tuple(tests[1].split()))

    @property
    def touched(self) -> list[str]:
        """The files of the program that the example changes or adds; tests, and the first file of a new folder, do not count."""
        paths = _TOUCHED.findall(self.patch)
        return sorted(
            path for path in paths if not path.startswith("ganeti_tx/test/") and Path(path).stem != "__init__"
        )


def all_checklists() -> list[Checklist]:
    """Every one that there is."""
    return [Checklist.read(path) for path in sorted(CHECKLISTS.glob("new-*.rst"))]
