"""The house's walls: which package may import which, how long a file may be, and that no import runs in a circle."""

import ast
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parent.parent
MAX_LINES = 600

#: Everything may import `errors` and `model` besides. A target "x.y" admits that module only.
MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "errors": set(),
    "model": set(),
    "metrics": set(),
    "runtime": {"metrics"},
    "locking": {"metrics"},
    "config": {"metrics", "runtime"},
    "rpc": {"metrics", "runtime"},
    "luxi": {"metrics", "runtime.daemon_control"},
    "mastership": {"config", "rpc", "queue.job", "runtime"},
    "node": {"rpc", "runtime", "mastership.own_ballot"},
    "query": {"config.interfaces", "locking.interfaces", "locking.levels", "rpc.interfaces", "rpc.calls"},
    "logic": {
        "query.pattern",
        "query.slices",
        "config.interfaces",
        "locking.interfaces",
        "locking.levels",
        "rpc.interfaces",
        "rpc.calls",
    },
    "jobs": {"logic", "metrics", "runtime", "luxi", "wconfd.protocol", "rpc", "config", "locking", "queue"},
    "queue": {"metrics", "runtime", "rpc.interfaces", "rpc.calls", "query.field", "query.filter", "query.pattern"},
    "master": {"luxid", "wconfd", "mastership", "metrics", "runtime", "locking.interfaces"},
    "wconfd": {"mastership", "metrics", "runtime", "luxi", "rpc", "config", "locking"},
    "luxid": {
        "logic.registry",
        "mastership",
        "metrics",
        "queue",
        "query",
        "runtime",
        "luxi",
        "wconfd.protocol",
        "rpc",
        "config",
        "locking",
    },
    "cli": {"luxi.client", "luxi.framing", "luxi.methods"},
    "bootstrap": {"mastership", "runtime", "config", "rpc", "node.storage.file.allowed_paths"},
    "devcluster": {"luxi.client", "runtime"},
    "console": set(),
    "rapi": {"config.mastership", "logic.registry", "luxi", "wconfd.protocol.methods", "metrics", "runtime", "sse"},
    "sse": set(),
    "rapi_client": {"sse"},
    "confd": {"config", "runtime"},
    "mond": {"config", "confd", "metrics", "runtime", "node.channels", "node.hypervisor"},
    "daemons": {"runtime"},
    "installation": {"cli", "runtime"},
}
EVERYWHERE = {"errors", "model"}


def module_name(path: Path) -> str:
    """The dotted name of a source file below the package, without "ganeti_tx"."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def sources() -> Iterator[Path]:
    """Every source file of the program itself, tests left out."""
    return (path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] != "test")


def imports_of(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """Each ganeti_tx module (dotted, without the package) that a file imports, with the statement."""
    for node in ast.walk(ast.parse(path.read_text())):
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


def allowed(layer: str, target: str) -> bool:
    """Whether a module of a layer may import the target module."""
    top = target.split(".")[0]
    if top in {layer, ""} or (top in EVERYWHERE and layer != "errors"):
        return True
    return any(target == permit or target.startswith(permit + ".") for permit in MAY_IMPORT[layer])


class LayerTests(SynchronousTestCase):
    """The tree of the style guide, held as a table."""

    def test_every_layer_is_listed(self) -> None:
        """A new top-level package declares what it may import."""
        layers = {module_name(path).split(".")[0] for path in sources()}
        self.assertEqual(layers - set(MAY_IMPORT), set())

    def test_imports_point_downwards(self) -> None:
        """A package imports only what the table admits."""
        wrong = [
            f"{path.relative_to(ROOT)}:{node.lineno} imports {target}"
            for path in sources()
            for target, node in imports_of(path)
            if not allowed(module_name(path).split(".")[0], target)
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
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom)
            and node.module == "twisted.internet"
            and any(alias.name == "reactor" for alias in node.names)
        ]
        self.assertEqual(wrong, [])

    def test_no_imports_inside_functions(self) -> None:
        """Imports stand at the top, save the late import of the reactor in an entry point."""
        wrong = [
            f"{path.relative_to(ROOT)}:{inner.lineno}"
            for path in sources()
            for outer in ast.walk(ast.parse(path.read_text()))
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
            for inner in ast.walk(outer)
            if isinstance(inner, (ast.Import, ast.ImportFrom)) and not is_late_reactor(inner)
        ]
        self.assertEqual(wrong, [])


def is_late_reactor(node: ast.Import | ast.ImportFrom) -> bool:
    """`from twisted.internet import reactor` (or the installing of one) inside an entry point."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twisted.internet")
