"""Installations of this program beside each other, as `pip install` makes them, but without a package index: in a second."""

import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.test.real.programs import SOURCE

#: What of the checkout is installed.
PARTS = ("ganeti_tx", "twisted", "etc")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "dropin.cache", "*.pyc")
LIMIT = 120.0


def install(prefix: Path, version: str) -> None:
    """This checkout in a directory of its own, as of some version."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(prefix)], timeout=LIMIT, check=True, capture_output=True
    )
    source = prefix / "source"
    for part in PARTS:
        shutil.copytree(SOURCE / part, source / part, ignore=LEFT_OUT)
    package = source / "ganeti_tx/__init__.py"
    package.write_text(package.read_text().replace(f'"{__version__}"', f'"{version}"'))
    (site,) = prefix.glob("lib/python*/site-packages")
    (site / "ganeti_tx.pth").write_text(f"{source}\n{sysconfig.get_path('purelib')}\n")
    for entry in distribution("ganeti_tx").entry_points.select(group="console_scripts"):
        program = prefix / "bin" / entry.name
        program.write_text(
            f"#!{prefix}/bin/python\nimport sys\nfrom {entry.module} import {entry.attr} as main\nsys.exit(main())\n"
        )
        program.chmod(0o755)
