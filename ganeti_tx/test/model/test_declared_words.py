"""What is known of a disk template or a hypervisor stands in its declaration and its driver, and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.test.test_layers import ROOT, sources

ENUMS = frozenset({DiskTemplate.__name__, Hypervisor.__name__})
WORDS = frozenset({*DiskTemplate, *Hypervisor})
#: Below these each folder or file is about one of them.
DECLARATIONS = ("model/disk_templates/", "model/hypervisors/")
DRIVERS = ("node/storage/", "node/hypervisor/")


def is_theirs(path: Path) -> bool:
    """Whether a file declares one of them, or is part of a driver."""
    name = path.relative_to(ROOT).as_posix()
    return name.startswith(DECLARATIONS) or any(name.startswith(top) and name.count("/") > 2 for top in DRIVERS)


def words_in(node: ast.AST) -> set[str]:
    """The words that stand at once in an expression, or in a collection that is one."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.Set | ast.List) else [node]
    values = {part.value for part in parts if isinstance(part, ast.Constant)}
    return {value for value in values if isinstance(value, str) and value in WORDS}


def is_table(node: ast.expr) -> bool:
    """Whether an expression is one of the enums or of the tables of declarations."""
    return isinstance(node, ast.Name) and node.id in ENUMS | {"TEMPLATES", "HYPERVISORS"}


def known(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where something is known of a template or hypervisor: a member, a comparison with words, a table of words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ENUMS:
            if node.attr.isupper():
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ENUMS:
            yield from ((node.lineno, f"{node.func.id}({word!r})") for part in node.args for word in words_in(part))
        elif isinstance(node, ast.Subscript):
            yield from ((node.lineno, f"[{word!r}]") for word in words_in(node.slice) if is_table(node.value))
        elif isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from ((node.lineno, f"compares with {word!r}") for word in words_in(side))
        elif isinstance(node, ast.MatchValue):
            yield from ((node.lineno, f"matches {word!r}") for word in words_in(node.value))
        elif isinstance(node, ast.Tuple | ast.Set) and len(found := words_in(node)) > isinstance(node, ast.Tuple):
            yield node.lineno, f"a table of {', '.join(sorted(found))}"
        elif isinstance(node, ast.Dict):
            keys = {word for key in node.keys if key is not None for word in words_in(key)}
            if len(keys) > 1:
                yield node.lineno, f"a table by {', '.join(sorted(keys))}"


class OnePlaceTests(SynchronousTestCase):
    """The program asks declarations; it does not know words."""

    def test_nobody_else_knows_them(self) -> None:
        """Outside the declarations and the drivers no member is named, nothing is compared with one, no table lists them."""
        wrong = [
            f"{path.relative_to(ROOT)}:{line}: {what}"
            for path in sources()
            if not is_theirs(path)
            for line, what in known(ast.parse(path.read_text()))
        ]
        self.assertEqual(wrong, [])

    def test_what_is_found(self) -> None:
        """The test sees what it is to refuse."""
        for text in (
            "x = DiskTemplate.PLAIN",
            "x = Hypervisor.KVM.value",
            "if x == 'drbd': pass",
            "if x in ('kvm', 'y'): pass",
            "match x:\n    case 'lxc': pass",
            "X = ('file', 'sharedfile')",
            "X = frozenset({'kvm'})",
            "x = DiskTemplate('plain')",
            "x = TEMPLATES['plain']",
            "X = {'file': 1, 'gluster': 2}",
        ):
            self.assertEqual(len(set(known(ast.parse(text)))), 1, text)
        for text in ("x = DiskTemplate(y)", "x = 'file'", "f('plain', 3)", "X = {'drbd': command}"):
            self.assertEqual(list(known(ast.parse(text))), [], text)
