"""The house's walls: which package may import which, how long a file may be, and that no import runs in a circle."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parent.parent
MAX_LINES = 400

#: A layer is a package, or a part of one that has a line of its own: the longest name counts. A line says what a layer may
#: import, itself and EVERYWHERE besides; a name admits that layer with all its parts. What several programs speak of (the
#: interfaces of a language, what is read off a node) is a part for itself, so that who needs no more sees no more.
MAY_IMPORT: dict[str, set[str]] = {
    # ground
    "": set(),
    "errors": set(),
    "model": set(),
    "metrics": set(),
    "own_modules": set(),
    "sse": set(),
    "runtime": {"metrics"},
    # languages
    "locking.levels": set(),
    "locking.interfaces": {"locking.levels"},
    "locking": {"locking.interfaces", "locking.levels", "metrics"},
    "config.interfaces": {"config"},
    "config": {"config.interfaces", "metrics", "runtime"},
    "mastership": {"config", "runtime"},
    "rpc.calls": {"mastership"},
    "rpc.refusals": set(),
    "rpc.interfaces": {"rpc.calls", "rpc.refusals"},
    "rpc": {"mastership", "metrics", "rpc.calls", "rpc.interfaces", "rpc.refusals", "runtime"},
    "luxi": {"metrics", "runtime"},
    "wconfd.protocol": {"config", "locking", "luxi", "metrics", "runtime"},
    "query.language": set(),
    # programs and what they consist of
    "query": {
        "locking.interfaces",
        "query.language",
        "rpc.calls",
        "rpc.interfaces",
    },
    "allocator": set(),
    "logic": {
        "allocator",
        "config.interfaces",
        "locking.interfaces",
        "locking.levels",
        "query.language",
        "rpc.calls",
        "rpc.interfaces",
    },
    "logic.registry": {"logic"},
    "queue": {"metrics", "query.language", "rpc.calls", "rpc.interfaces", "runtime"},
    "election": {"config", "mastership", "queue", "rpc", "runtime"},
    "node.hypervisor": {"runtime"},
    "node.storage": {"runtime"},
    "node": {"allocator", "luxi", "mastership", "metad.protocol", "node.hypervisor", "node.storage", "rpc", "runtime"},
    "jobs": {
        "config",
        "locking",
        "logic",
        "luxi",
        "mastership",
        "metrics",
        "queue",
        "rpc",
        "runtime",
        "wconfd.protocol",
    },
    "wconfd": {"config", "election", "locking", "luxi", "mastership", "metrics", "rpc", "runtime", "wconfd.protocol"},
    "luxid": {
        "config",
        "election",
        "locking",
        "logic.registry",
        "luxi",
        "mastership",
        "metrics",
        "query",
        "queue",
        "rpc",
        "runtime",
        "wconfd.protocol",
    },
    "master": {"election", "locking.interfaces", "luxid", "metrics", "runtime", "wconfd"},
    "rapi": {"logic.registry", "luxi", "mastership", "metrics", "runtime", "sse", "wconfd.protocol"},
    "rapi_client": {"sse"},
    "confd": {"runtime"},
    "metad.protocol": {"luxi"},
    "metad": {"luxi", "metad.protocol", "runtime"},
    "mond": {"confd", "metrics", "node.hypervisor", "node.storage", "runtime"},
    "cli": {"luxi"},
    "console": set(),
    "xen_console": set(),
    "bootstrap": {"config", "election", "node.storage", "rpc", "runtime"},
    "upgrade": {"bootstrap", "config", "luxi", "runtime"},
    "merge": {"bootstrap", "config", "luxi", "runtime", "upgrade"},
    "devcluster": {"node.hypervisor", "runtime"},
    "daemons": {"runtime"},
    "installation": {"cli", "runtime"},
    "tools": {"bootstrap", "installation", "runtime"},
    "watcher": {"bootstrap", "confd", "luxi", "node.hypervisor", "node.storage", "runtime"},
    "move_instance": {"cli", "rapi_client", "runtime"},
    "burnin": {"cli", "confd", "luxi", "runtime"},
}
EVERYWHERE = {"errors", "model", "own_modules"}
#: All files have a million of other nodes.
LOOKED_AT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.arg, ast.AnnAssign)


def module_name(path: Path) -> str:
    """The dotted name of a source file below the package, without "ganeti_tx"."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def sources() -> Iterator[Path]:
    """Every source file of the program itself, tests left out."""
    return (path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] != "test")


@cache
def tree_of(path: Path) -> ast.Module:
    """The statements of a file."""
    return ast.parse(path.read_text())


@cache
def statements_of(path: Path) -> list[ast.AST]:
    """What of it these tests look at, however deep it stands."""
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, LOOKED_AT)]


@cache
def imports_of(path: Path) -> list[tuple[str, ast.stmt]]:
    """Each ganeti_tx module (dotted, without the package) that a file imports, with the statement."""
    return list(_imports_of(path))


def _imports_of(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    for node in statements_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names = [resolve(node.module, alias.name) for alias in node.names]
        else:
            continue
        for name in names:
            if name == "ganeti_tx" or name.startswith("ganeti_tx."):
                yield name.removeprefix("ganeti_tx").removeprefix("."), node


def resolve(module: str, name: str) -> str:
    """`from module import name` names a module when such a file is there, else something inside `module`."""
    inner = ROOT.parent / Path(*module.split(".")) / name
    return f"{module}.{name}" if inner.is_dir() or inner.with_suffix(".py").exists() else module


@cache
def layer_of(module: str) -> str:
    """The layer of a module: the longest name in the table that it has or lies below."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in MAY_IMPORT), "")


def allowed(module: str, target: str) -> bool:
    """Whether a module may import the target module."""
    layer, imported = layer_of(module), layer_of(target)
    if imported in {layer, ""} or (imported in EVERYWHERE and layer != "errors"):
        return True
    return any(covers(permit, imported) for permit in MAY_IMPORT[layer])


def covers(permit: str, layer: str) -> bool:
    """Whether a name in a line admits a layer."""
    return layer == permit or layer.startswith(permit + ".")


class LayerTests(SynchronousTestCase):
    """The tree of the style guide, held as a table."""

    def test_every_layer_is_listed(self) -> None:
        """A new top-level package declares what it may import."""
        packages = {module_name(path).split(".")[0] for path in sources()}
        self.assertEqual(packages - set(MAY_IMPORT), set())

    def test_lines_name_layers(self) -> None:
        """What a line admits has a line itself, that of a part is the part of a package, and nothing is there for nothing."""
        permits = set().union(*MAY_IMPORT.values())
        self.assertEqual(permits - set(MAY_IMPORT), set())
        self.assertEqual(set(MAY_IMPORT) - {layer_of(module_name(path)) for path in sources()}, set())

    def test_lines_are_needed(self) -> None:
        """A layer imports something of all that its line admits."""
        used = {
            (layer, permit)
            for path in sources()
            for layer in [layer_of(module_name(path))]
            for imported in {layer_of(target) for target, _ in imports_of(path)}
            for permit in MAY_IMPORT[layer]
            if covers(permit, imported)
        }
        admitted = {(layer, permit) for layer, permits in MAY_IMPORT.items() for permit in permits}
        self.assertEqual(admitted - used, set())

    def test_imports_point_downwards(self) -> None:
        """A package imports only what the table admits."""
        wrong = [
            f"{path.relative_to(ROOT)}:{node.lineno} imports {target}"
            for path in sources()
            for target, node in imports_of(path)
            if not allowed(module_name(path), target)
        ]
        self.assertEqual(wrong, [])

    def test_no_circles(self) -> None:
        """No module imports, through others, itself."""
        graph = {module_name(path): {target for target, _ in imports_of(path)} for path in sources()}
        done: set[str] = set()

        def visit(module: str, trail: tuple[str, ...]) -> None:
            if module in trail:
                self.fail(" -> ".join([*trail[trail.index(module) :], module]))
            if module not in done:
                for target in sorted(graph.get(module, ())):
                    if target != module:
                        visit(target, (*trail, module))
                done.add(module)

        for module in graph:
            visit(module, ())

    def test_files_are_short(self) -> None:
        """No file has more lines than a reader can hold."""
        long = [
            f"{path.relative_to(ROOT)}: {count}"
            for path in sorted(ROOT.rglob("*.py"))
            if (count := len(path.read_text().splitlines())) > MAX_LINES
        ]
        self.assertEqual(long, [])

    def test_no_reactor_at_module_level(self) -> None:
        """The reactor is passed in; only test/real and a process's own entry may import the global one."""
        wrong = [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for path in sources()
            for node in tree_of(path).body
            if isinstance(node, ast.ImportFrom)
            and node.module == "twisted.internet"
            and any(alias.name == "reactor" for alias in node.names)
        ]
        self.assertEqual(wrong, [])

    def test_reactors_are_named(self) -> None:
        """What is used of a reactor or a clock stands in its type (`runtime/reactors.py`)."""
        wrong = [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for path in sources()
            for node in statements_of(path)
            if isinstance(node, (ast.arg, ast.AnnAssign)) and is_any_reactor(node)
        ]
        self.assertEqual(wrong, [])

    def test_no_imports_inside_functions(self) -> None:
        """Imports stand at the top, save the late import of the reactor in an entry point."""
        wrong = [
            f"{path.relative_to(ROOT)}:{inner.lineno}"
            for path in sources()
            for outer in statements_of(path)
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
            for inner in ast.walk(outer)
            if isinstance(inner, (ast.Import, ast.ImportFrom)) and not is_late_reactor(inner)
        ]
        self.assertEqual(wrong, [])


def is_late_reactor(node: ast.Import | ast.ImportFrom) -> bool:
    """`from twisted.internet import reactor` (or the installing of one) inside an entry point."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twisted.internet")


def is_any_reactor(node: ast.arg | ast.AnnAssign) -> bool:
    """`reactor: Any` or `clock: Any`, as an argument, a field or a variable."""
    name = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target).rpartition(".")[2]
    annotation = node.annotation
    is_any = isinstance(annotation, ast.Name) and annotation.id == "Any"
    return is_any and name.lstrip("_") in {"reactor", "clock"}
