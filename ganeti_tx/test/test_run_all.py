"""Running all tests: nothing is left out, nothing is counted twice, and what dies or hangs has failed."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import dedent, indent
from typing import ParamSpec

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.in_time import BEGIN_VARIABLE, LEFT_OUT
from ganeti_tx.test.run_all import ROOT, Outcome, Run, outcome, settled
from ganeti_tx.test.units import all_units, units

P = ParamSpec("P")


class UnitsTests(SynchronousTestCase):
    """What the trial processes run."""

    def test_everything_once(self) -> None:
        """Every test module of the package is in one unit, and every unit holds some."""
        modules = [
            ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "ganeti_tx").rglob("test_*.py")
        ]
        all_of_them = " ".join(all_units()).split()
        holding = Counter(module for module in modules for unit in all_of_them if f"{module}.".startswith(f"{unit}."))
        self.assertEqual(holding, Counter(modules))
        self.assertEqual(
            [unit for unit in all_of_them if not any(f"{module}.".startswith(f"{unit}.") for module in modules)], []
        )

    def test_names(self) -> None:
        """Names of tests are units as they are; a package that is several units is those."""
        names = ["ganeti_tx.test.luxi", "ganeti_tx.test.real.test_kvm.Tests.test_it"]
        self.assertEqual(units([*names, names[0]]), names)
        for whole in ([], ["ganeti_tx"], ["ganeti_tx.test", "ganeti_tx.test.real"]):
            self.assertEqual(units(whole), all_units())
        real = units(["ganeti_tx.test.real"])
        self.assertEqual({name.rpartition(".")[0] for name in real}, {"ganeti_tx.test.real"})


class RunTests(SynchronousTestCase):
    """Trial processes, on test modules made for this."""

    def quiet(self, function: Callable[P, Outcome], *args: P.args, **kwargs: P.kwargs) -> Outcome:
        """Call it; what it prints is not for the reader of these tests."""
        with redirect_stdout(StringIO()):
            return function(*args, **kwargs)

    def module(self, body: str) -> str:
        """A test module, as a name for trial."""
        directory = Path(self.mktemp())
        directory.mkdir()
        path = directory.absolute() / "test_made.py"
        head = "import os, time\nfrom twisted.trial.unittest import SynchronousTestCase, SkipTest\n"
        path.write_text(f"{head}class Tests(SynchronousTestCase):\n{indent(dedent(body), '    ')}")
        return str(path)

    def test_counts(self) -> None:
        """Passed, failed and skipped are what trial counted."""
        name = self.module("""
            def test_a(self): pass
            def test_b(self): self.fail('so it is')
            def test_c(self): raise ValueError('or so')
            def test_d(self): raise SkipTest('not here')
            def test_e(self): raise SkipTest('nor here')
        """)
        outcome = self.quiet(Run().trial, name)
        self.assertEqual(outcome._replace(why=""), Outcome(name, 1, 2, 2))
        self.assertIn("so it is", outcome.why)
        self.assertNotIn("test_a", outcome.why)

    def test_dies(self) -> None:
        """A process that dies has failed, whatever passed in it before."""
        name = self.module("def test_a(self): print('PASSED', flush=True); os._exit(3)\n")
        self.assertEqual(self.quiet(Run().trial, name).failed, 1)

    def test_hangs(self) -> None:
        """What does not end in time is killed and has failed; what was not begun has failed, too."""
        name = self.module("def test_a(self): time.sleep(1000)\n")
        this = Run(limit=2, last=0)
        self.assertEqual([self.quiet(this.trial, name).failed, self.quiet(this.trial, name).failed], [1, 1])

    def test_too_late(self) -> None:
        """What would begin when only the last tests may go on is skipped: the rest of a unit, and a whole one; both say so."""
        late = f"os.environ[{BEGIN_VARIABLE!r}] = '0'"
        path = Path(self.module(f"def test_a(self): {late}\ndef test_b(self): self.fail('begun')\n"))
        path.write_text(f"import ganeti_tx.test\n{path.read_text()}")
        with redirect_stdout(StringIO()) as said:
            outcomes = [Run().trial(str(path)), Run(limit=60, last=60).trial(str(path))]
        self.assertEqual([each[1:4] for each in outcomes], [(1, 0, 1), (0, 0, 1)], said.getvalue())
        self.assertEqual(said.getvalue().count(LEFT_OUT), 2, said.getvalue())

    def test_missing(self) -> None:
        """A name that is no test has failed."""
        self.assertEqual(self.quiet(Run().trial, "ganeti_tx.test.no_such_thing").failed, 1)

    def test_status(self) -> None:
        """A process that ends badly after all its tests has failed."""
        said = "PASSED (successes=3)\n"
        self.assertEqual(self.quiet(outcome, "it", 1, said), Outcome("it", 3, 1, 0, why=said))

    def test_cannot_run(self) -> None:
        """What could not even be begun has failed."""
        nothing: Future[Outcome] = Future()
        nothing.set_exception(OSError("no more processes"))
        self.assertEqual(self.quiet(settled, "it", nothing), Outcome("it", failed=1))

    def test_last_line(self) -> None:
        """Several names run beside each other; their sum is the last line, what failed is named before it, with why."""
        good = self.module("def test_a(self): pass\n")
        bad = self.module("def test_a(self): self.fail('so it is')\n")
        done = subprocess.run(
            [sys.executable, "-m", "ganeti_tx.test.run_all", good, bad],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        before, _, after = done.stdout.partition(f"failed: {bad}\n")
        self.assertIn("so it is", before)
        self.assertIn("so it is", after)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed, 0 skipped")
        self.assertEqual(done.returncode, 1)
