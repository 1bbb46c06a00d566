"""A setting of the cluster is one declaration: added to a copy of the program in one place, it is everywhere."""

import shutil
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).parents[2]
LIMIT = 240
#: The one file that is touched: what is added above its class, and at its end.
PLACE = "model/settings/nodes.py"
CHECK = '''
from ganeti_tx.errors import ECode, OpPrereqError


def polite(name: str, text: str) -> str:
    """Some words are not allowed."""
    if text == "hell":
        raise OpPrereqError(f"{name}: {text!r} is not allowed", ECode.INVAL)
    return text


'''
DECLARATION = """
    greeting: Annotated[
        str,
        Setting(
            default="good day",
            single=True,
            check=polite,
            flags=(Flag("--greeting", "what guests are told first"),),
            facts=(Fact("greeting of guests"),),
        ),
    ]
"""


class NewSettingTests(SynchronousTestCase):
    """The copy is tested by `inprocess/with_greeting.py`."""

    def test_one_file(self) -> None:
        """It is chosen at init, changed by modify, shown by info, told by LUXI and the Remote API, and has a default."""
        root = Path(self.mktemp()).absolute()
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(ROOT, root / "ganeti_tx", ignore=ignored)
        place = root / "ganeti_tx" / PLACE
        above, line, below = place.read_text().partition("\nclass ")
        place.write_text(f"{above}{CHECK}{line}{below}{DECLARATION}")
        outcome = subprocess.run(
            [sys.executable, "-m", "twisted.trial", "ganeti_tx.test.inprocess.with_greeting"],
            cwd=root, env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"}, capture_output=True, timeout=LIMIT,
            check=False,
        )  # fmt: skip
        self.assertEqual(outcome.returncode, 0, (outcome.stdout + outcome.stderr).decode())
        self.assertIn(b"successes=5", outcome.stdout)
