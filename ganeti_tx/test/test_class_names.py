"""A class is found by its name: no package has two public ones that are called the same."""

import ast
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.test_layers import ROOT


def public_classes(source: str) -> set[str]:
    """The names of the classes of a module that others may use."""
    return {each.name for each in ast.parse(source).body if isinstance(each, ast.ClassDef) and each.name[0] != "_"}


def names_used_twice(sources: Mapping[Path, str]) -> dict[tuple[str, str], list[str]]:
    """Package (the folder next below the top) and name, with the modules; the paths are relative to the top."""
    modules: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, source in sorted(sources.items()):
        for name in public_classes(source):
            modules[path.parts[0], name].append(str(path))
    return {key: places for key, places in modules.items() if len(places) > 1}


class ClassNameTests(SynchronousTestCase):
    """The program's classes, without those of its tests."""

    def test_once_in_a_package(self) -> None:
        """Each public name is one class in its package."""
        paths = [path for path in ROOT.rglob("*.py") if "test" not in path.relative_to(ROOT).parts]
        self.assertGreater(len(paths), 500)
        self.assertEqual(names_used_twice({path.relative_to(ROOT): path.read_text() for path in paths}), {})

    def test_twice_is_seen(self) -> None:
        """Two modules of one package, however deep, with one name are told; another package's and private ones are not."""
        sources = {
            Path("model/disk.py"): "class Disk: ...\nclass _Own: ...",
            Path("model/opcodes/disk.py"): "class Disk: ...\nclass _Own: ...",
            Path("node/disk.py"): "class Disk: ...",
        }
        self.assertEqual(names_used_twice(sources), {("model", "Disk"): ["model/disk.py", "model/opcodes/disk.py"]})
