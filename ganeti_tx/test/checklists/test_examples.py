"""Each example applies to the program as it is, touches no more files than its checklist says, and works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

import ganeti_tx
from ganeti_tx.test.checklists.checklist import CHECKLISTS, Checklist, all_checklists

PACKAGE = Path(ganeti_tx.__file__).parent
#: The most files that a new thing may touch; a checklist that needs more tells of a fact that stands in two places.
LIMITS = {
    "new-opcode": 4,
    "new-command": 2,
    "new-configuration-operation": 2,
    "new-node-call": 2,
    "new-disk-template": 2,
    "new-hypervisor": 2,
    "new-cluster-setting": 1,
    "new-query-field": 1,
    "new-remote-api-resource": 1,
}
#: Seconds for the tests of one example.
LIMIT = 120


class ExampleTests(SynchronousTestCase):
    """On a copy of the program."""

    def test_complete(self) -> None:
        """There is a checklist for each kind of thing, and each says how many files it touches."""
        self.assertEqual({each.name for each in all_checklists()}, set(LIMITS))

    def test_counts(self) -> None:
        """As many files as it says, and not more than may be."""
        for each in all_checklists():
            self.assertEqual((each.name, len(each.touched)), (each.name, each.count))
            self.assertLessEqual(each.count, LIMITS[each.name], each.name)

    def test_examples(self) -> None:
        """Each example's own tests pass where it has been applied, and only there."""
        top = self.copy()
        for each in all_checklists():
            self.apply(each, top)
            done = self.run_tests(each, top)
            self.assertEqual(done.returncode, 0, f"{each.name}:\n{done.stdout}{done.stderr}")
            self.apply(each, top, "--reverse")

    def copy(self) -> Path:
        """The program, to be changed."""
        top = Path(self.mktemp()).resolve()
        shutil.copytree(PACKAGE, top / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "_trial_temp*"))
        return top

    def apply(self, checklist: Checklist, top: Path, *options: str) -> None:
        """Change the copy as the example does, or take that back."""
        argv = ["git", "apply", "--whitespace=nowarn", *options, "-"]
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(top.parent)}  # no repository around it counts
        done = subprocess.run(
            argv, input=checklist.patch, cwd=top, env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, f"{checklist.name} does not apply: {done.stderr}")

    def run_tests(self, checklist: Checklist, top: Path) -> "subprocess.CompletedProcess[str]":
        """The example's tests."""
        argv = [sys.executable, "-m", "twisted.trial", "--temp-directory", str(top / "trial"), *checklist.tests]
        environment = {**os.environ, "PYTHONPATH": str(top), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            argv, cwd=top, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
        )

    if not CHECKLISTS.exists():
        skip = "there are no checklists beside an installed package"
