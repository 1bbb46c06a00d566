"""The disk with the program under test, as it is in this checkout: machines find it at /lab."""

import shutil
import sys
from importlib.metadata import entry_points, requires
from pathlib import Path

from ganeti_tx.test.lab.guest import made_guest
from ganeti_tx.test.lab.image import CHECKOUT
from ganeti_tx.test.lab.kept import KEPT_SHORT, done, kept
from ganeti_tx.test.nodes.layers import source_digest

INSIDE = Path(__file__).with_name("inside")
#: The Python of the image's Debian.
PYTHON = "3.11"
COMMAND = """#!/usr/bin/python3
import sys
from {module} import {function}
sys.argv[0] = sys.argv[0].rpartition("/")[2]
sys.exit({function}())
"""


def program_disk() -> Path:
    """An ext4 file system with the machines' own scripts, this checkout's packages and what they stand on."""
    inside = [path.read_bytes() for path in sorted(INSIDE.iterdir())] + [made_guest().read_bytes()]
    made = kept("program", [*inside, source_digest(CHECKOUT), Path(__file__).read_bytes()], make, KEPT_SHORT)
    return made / "program.ext4"


def make(directory: Path) -> None:
    """Fill an empty directory."""
    tree = directory / "tree"
    shutil.copytree(needs(), tree / "python")
    for package in ("ganeti_tx", "twisted"):
        shutil.copytree(CHECKOUT / package, tree / "python" / package, dirs_exist_ok=True, ignore=not_needed)
    for script in INSIDE.iterdir():
        shutil.copy(script, tree)
    shutil.copy(made_guest(), tree)
    write_commands(tree / "bin")
    know_plugins(tree / "python")
    for package in ("ganeti_tx", "twisted/plugins"):
        compile_below(tree / "python" / package)
    disk = directory / "program.ext4"
    options = ["-q", "-t", "ext4", "-O", "^has_journal", "-E", "root_owner=0:0", "-m", "0", "-d", str(tree)]
    done(["mke2fs", *options, str(disk), "300M"])
    shutil.rmtree(tree)


def write_commands(directory: Path) -> None:
    """The program's commands, as an installation has them."""
    directory.mkdir()
    for each in entry_points(group="console_scripts"):
        if each.module.startswith("ganeti_tx."):
            command = directory / each.name
            command.write_text(COMMAND.format(module=each.module, function=each.attr))
            command.chmod(0o755)


def know_plugins(tree: Path) -> None:
    """Have Twisted note what plugins there are; machines cannot write that down, and would look at each start."""
    code = "from twisted.plugin import IPlugin, getPlugins; list(getPlugins(IPlugin))"
    done([sys.executable, "-I", "-c", f"import sys; sys.path[:0] = [{str(tree)!r}]; {code}"])


def not_needed(_directory: str, names: list[str]) -> set[str]:
    """What is not copied of a checkout."""
    return {name for name in names if name in ("__pycache__", "dropin.cache")}


def needs() -> Path:
    """The packages that the program stands on, for the machines' Python, whichever is ours."""
    wanted = requirements()

    def install(directory: Path) -> None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        chosen = ["--python-version", PYTHON, "--only-binary=:all:", "--target", str(directory / "python")]
        done([*pip, *chosen, *wanted])
        compile_below(directory / "python")

    return kept("needs", [each.encode() for each in wanted], install) / "python"


def requirements() -> list[str]:
    """What the installed program says that it needs, tests apart."""
    return [each for each in requires("ganeti_tx") or () if "extra ==" not in each]


def compile_below(directory: Path) -> None:
    """Compile it here, which is dear on an emulated machine; what another Python compiled it would not read."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == PYTHON:
        options = ["-q", "-j", "2", "--invalidation-mode", "unchecked-hash"]
        done([sys.executable, "-m", "compileall", *options, str(directory)])
