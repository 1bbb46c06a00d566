"""What is known of a disk template or a hypervisor stands in its declaration and its driver, and nowhere else."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.test.test_layers import ROOT, sources

ENUMS = frozenset({DiskTemplate.__name__, Hypervisor.__name__})
WORDS = frozenset({*DiskTemplate, *Hypervisor})
#: Below these each folder or file is about one of them.
DECLARATIONS = ("model/disk_templates/", "model/hypervisors/")
DRIVERS = ("node/storage/", "node/hypervisor/")
LIMIT = 60

NEW_TEMPLATE = """
from typing import NamedTuple
from ganeti_tx.model.base import Wire
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.enums import StorageType
class TapeId(NamedTuple):
    reel: str
    metre: int
class TapeParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    speed: int = 3
TEMPLATE = Template(
    logical_id=TapeId, storage=StorageType.FILE, pool="file_storage_dir", params=TapeParams, keys=frozenset({"reel"}),
    locate=lambda place, name: TapeId(str(place.said["reel"]), 0), driver="tape",
)
"""
TAPE_DRIVER = """
from ganeti_tx.node.storage.diskless.driver import Diskless
from ganeti_tx.node.storage.kinds import StorageKind
def register(parts):
    return StorageKind([Diskless("tape")])
"""
NEW_HYPERVISOR = """
from ganeti_tx.model.base import Wire
from ganeti_tx.model.hypervisor import ConsoleKind, HypervisorKind
class JailParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    bars: int = 7
HYPERVISOR = HypervisorKind(params=JailParams, consoles=frozenset({ConsoleKind.SSH}), driver="jail")
"""
JAIL_DRIVER = """
def register(parts):
    return "a jail"
"""
SEEN = """
import asyncio
from types import SimpleNamespace
from ganeti_tx.bootstrap.cluster_settings import check_params
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.cli import declared_parameters
from ganeti_tx.cli.instance.add import TEMPLATES
from ganeti_tx.config.defaults import CLUSTER_DEFAULTS
from ganeti_tx.logic.disks.make import make_disks
from ganeti_tx.logic.disks.plan import plan_disks
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.opcodes import OpInstanceCreate
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.model import disk_templates
from ganeti_tx.node.hypervisor.registry import load_hypervisors
from ganeti_tx.node.storage.registry import load_storage
from ganeti_tx.query.fields_instance import INSTANCE_FIELDS

tape, jail = DiskTemplate("tape"), Hypervisor("jail")
problems = Problems()
check_params(InitSettings(
    cluster_name="c", enabled_disk_templates=["tape"], enabled_hypervisors=["jail"],
    diskparams={"tape": {"speed": "4"}}, hvparams={"jail": {"bars": "8"}},
), problems)
problems.stop_if_any()
assert declared_parameters.DISK_TEMPLATE["speed"] == declared_parameters.HYPERVISOR["bars"] == "int"
assert CLUSTER_DEFAULTS["diskparams"]["tape"] == {"speed": 3} and CLUSTER_DEFAULTS["hvparams"]["jail"] == {"bars": 7}
assert "hv/bars" in INSTANCE_FIELDS and "tape" in TEMPLATES
assert tape in InstancePolicy().disk_templates
op = OpInstanceCreate(
    instance_name="i", disk_template=tape, hypervisor=jail, disks=({"size": 8, "reel": "r"},), nics=(), mode="create",
)
cluster = SimpleNamespace(enabled_disk_templates=(tape,), file_storage_dir="/srv")
(plan,) = plan_disks(op, cluster, "i", disk_templates.AVAILABLE)[1]
class Config:
    async def generate_uuid(self):
        return "u"
(disk,) = asyncio.run(make_disks(Config(), [plan], ["n"]))
assert (disk.logical_id, disk.nodes) == (("r", 0), ("n",))
parts = SimpleNamespace(**dict.fromkeys("paths files threads runner clock reactor now".split()))
assert load_storage(parts).of("tape").template == "tape"
assert load_hypervisors(parts)["jail"] == "a jail"
"""


def is_theirs(path: Path) -> bool:
    """Whether a file declares one of them, or is part of a driver."""
    name = path.relative_to(ROOT).as_posix()
    return name.startswith(DECLARATIONS) or any(name.startswith(top) and name.count("/") > 2 for top in DRIVERS)


def words_in(node: ast.AST) -> set[str]:
    """The words that stand at once in an expression, or in a collection that is one."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.Set | ast.List) else [node]
    values = {part.value for part in parts if isinstance(part, ast.Constant)}
    return {value for value in values if isinstance(value, str) and value in WORDS}


def known(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where something is known of a template or hypervisor: a member, a comparison with words, a table of words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ENUMS:
            if node.attr.isupper():
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from ((node.lineno, f"compares with {word!r}") for word in words_in(side))
        elif isinstance(node, ast.MatchValue):
            yield from ((node.lineno, f"matches {word!r}") for word in words_in(node.value))
        elif isinstance(node, ast.Tuple | ast.Set) and len(found := words_in(node)) > 1:
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
            "X = {'file': 1, 'gluster': 2}",
        ):
            self.assertEqual(len(set(known(ast.parse(text)))), 1, text)
        for text in ("x = DiskTemplate(y)", "x = 'file'", "f('plain', 3)", "X = {'drbd': command}"):
            self.assertEqual(list(known(ast.parse(text))), [], text)


class NewOneTests(SynchronousTestCase):
    """A file that declares it and a driver are all that a new one needs."""

    def test_new(self) -> None:
        """A template and a hypervisor that nothing names are settings, parameters, options and drivers at once."""
        with TemporaryDirectory() as directory:
            root = Path(directory) / ROOT.name
            shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns("test", "__pycache__"))
            for name, text in {
                "model/disk_templates/tape.py": NEW_TEMPLATE,
                "node/storage/tape/__init__.py": "",
                "node/storage/tape/driver.py": TAPE_DRIVER,
                "model/hypervisors/jail.py": NEW_HYPERVISOR,
                "node/hypervisor/jail/__init__.py": "",
                "node/hypervisor/jail/driver.py": JAIL_DRIVER,
            }.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            found = subprocess.run(
                [sys.executable, "-c", SEEN],
                cwd=directory,
                env={"PYTHONPATH": ":".join([directory, *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                timeout=LIMIT,
                check=False,
            )
        self.assertEqual((found.returncode, found.stderr.decode()), (0, ""))
