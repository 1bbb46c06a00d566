"""A common generator of clients takes the description of the Remote API."""

import compileall
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.operations.openapi import document
from ganeti_tx.rapi.resources.table import OPERATIONS

GENERATOR = "openapi_python_client"
#: Seconds.
LIMIT = 240


class GeneratorTests(SynchronousTestCase):
    """openapi-python-client, with all operations, also those beyond this version."""

    if importlib.util.find_spec(GENERATOR) is None:
        skip = "openapi-python-client is not installed"

    def test_client(self) -> None:
        """It makes a module of each operation, leaves nothing out, and the modules are Python."""
        directory = Path(self.mktemp())
        directory.mkdir()
        (directory / "openapi.json").write_text(json.dumps(document(OPERATIONS)))
        (directory / "config.json").write_text(json.dumps({"post_hooks": []}))
        argv = [
            sys.executable, "-m", GENERATOR, "generate", "--path", "openapi.json", "--config", "config.json",
            "--meta", "none", "--output-path", "client", "--fail-on-warning",
        ]  # fmt: skip
        made = subprocess.run(argv, cwd=directory, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        modules = {path.stem for path in (directory / "client" / "api").rglob("*.py")} - {"__init__"}
        self.assertEqual(
            modules, {each["operationId"] for path in document(OPERATIONS)["paths"].values() for each in path.values()}
        )
        self.assertTrue(compileall.compile_dir(directory / "client", quiet=1))
