"""Runs lint, types and trial, and counts: the last line is "N passed, N failed, N skipped".

Tests mostly wait for daemons and instances, so several trial processes run at a time. `trial -j` would deal out single
tests: every worker would bring up every cluster that the tests of a module share. Here a worker takes a whole unit
(see units.py), and what a unit wrote is shown in one piece when it has ended. Where the time does not suffice, as on a machine
that takes twice as long as others, what has not begun is skipped, and said to be (see in_time.py). When all is over, in time or
not, nothing that tests have started runs on (see ending.py), but what takes down a lab.
"""

import compileall
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, NamedTuple

from ganeti_tx.test.ending import ASKING, with_all_ended
from ganeti_tx.test.in_time import BEGIN_VARIABLE, LEFT_OUT
from ganeti_tx.test.lab.processes import lives_for_a_lab
from ganeti_tx.test.units import units

ROOT = Path(__file__).parents[2]
#: Seconds for everything; CI has 40 minutes, in which it also installs packages.
LIMIT = 37.5 * 60
#: Seconds before the end of that time after which no test is begun: the longest ends in them, on a slow machine too.
LAST_TESTS = 6.5 * 60
#: Processes at a time for each core: most of what they do is waiting.
WORKERS_PER_CORE = 2
#: Where there are many cores, not all need be ours; a worker's cluster takes some memory.
MOST_WORKERS = 8
#: Seconds between two looks at a process and what it wrote.
INTERVAL = 0.1
#: Characters of what failed units said that are shown once more at the end, of all together, for who sees only the end.
REPEATED = 3000
#: A line of trial that has the name of a test that failed.
FAILED_TEST = re.compile(r"^ganeti_tx\.[\w.]+$", re.MULTILINE)
#: Tells what takes down a lab the process id of the run that it belongs to.
RUN_VARIABLE = "GANETI_TEST_RUN"
COUNT = re.compile(r"(\w+)=(\d+)")
SUMMARY = re.compile(r"^(?:PASSED|FAILED)\b.*", re.MULTILINE)
#: The line of trial behind which it tells of what failed.
RULE = re.compile(r"^={79}$", re.MULTILINE)
CHECKS = {
    "ruff check": ["-m", "ruff", "check", "--quiet", "."],
    "ruff format": ["-m", "ruff", "format", "--check", "--quiet", "."],
    "mypy": ["-m", "mypy", "--no-error-summary"],
}


class Outcome(NamedTuple):
    """How a check or a unit of tests went."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    why: str = ""
    """What was said of the failures."""


class Run:
    """One run of the checks and the tests, which ends in time.

    @param last: seconds before the end of the limit in which no test is begun.
    @param live: what a test process says is shown at once, as there is only one.
    @param kept: the directory of what Hypothesis would compute anew for each unit, if there is one.
    """

    def __init__(
        self, limit: float = LIMIT, live: bool = False, kept: str | None = None, last: float = LAST_TESTS
    ) -> None:
        self._deadline = time.monotonic() + limit
        self._begin_until = self._deadline - last
        self._live = live
        self._kept = kept

    def stop(self) -> None:
        """No time is left, as somebody asks for its end."""
        self._deadline = time.monotonic()

    def check(self, name: str) -> Outcome:
        """Run one checker; its words are shown when it finds something."""
        status, said = self._python(CHECKS[name], {})
        print(f"{name}: ok" if status == 0 else f"{name}: failed\n{said}", flush=True)
        return Outcome(name, passed=int(status == 0), failed=int(status != 0), why=said)

    def trial(self, unit: str) -> Outcome:
        """Run one unit of tests and show what it says."""
        if self._begin_until < time.monotonic() < self._deadline:
            print(f"{unit}: {LEFT_OUT}", flush=True)
            return Outcome(unit, skipped=1)
        with tempfile.TemporaryDirectory(prefix="ganeti-trial-", ignore_cleanup_errors=True) as directory:
            settings = {
                "PYTHONPATH": str(ROOT),
                "HYPOTHESIS_STORAGE_DIRECTORY": self._kept or directory,
                BEGIN_VARIABLE: str(self._begin_until),
            }
            command = ["-m", "twisted.trial", "--reporter", "timing", "--temp-directory", f"{directory}/trial"]
            status, said = self._python([*command, *unit.split()], settings, self._live)
        if not self._live:
            print(said, flush=True)
        return outcome(unit, status, said)

    def _python(self, arguments: Sequence[str], settings: dict[str, str], live: bool = False) -> tuple[int | None, str]:
        """Run a Python process: its exit status, None when there was no time, and all that it said.

        It writes to a file, as a pipe would be held open by what it leaves running.
        """
        with tempfile.NamedTemporaryFile("r", prefix="ganeti-trial-", errors="replace") as said:
            if time.monotonic() > self._deadline:
                return None, ""
            with open(said.name, "ab") as output:
                process = start(arguments, settings, output)
            text = ""
            while (status := process.poll()) is None and time.monotonic() < self._deadline:
                time.sleep(INTERVAL)
                text += shown(said.read(), live)
            if status is None:
                process.kill()
                process.wait()
            return status, text + shown(said.read(), live)


def start(arguments: Sequence[str], settings: dict[str, str], output: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start a Python process that says everything there."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **settings, RUN_VARIABLE: str(os.getpid())},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    )


def shown(text: str, live: bool) -> str:
    """The same text, printed at once if wanted."""
    if live:
        print(text, end="", flush=True)
    return text


def outcome(unit: str, status: int | None, said: str) -> Outcome:
    """What trial counted; one failure more when it did not come to its end."""
    summaries = SUMMARY.findall(said)
    counts = {name: int(number) for name, number in COUNT.findall(summaries[-1] if summaries else "")}
    failed = sum(counts.get(name, 0) for name in ("failures", "errors", "unexpectedSuccesses"))
    if not summaries or (status != 0 and failed == 0):
        why = "there was no time left for it" if status is None else f"it ended with status {status}"
        print(f"{unit}: {why}", flush=True)
        failed += 1
    return Outcome(unit, counts.get("successes", 0), failed, counts.get("skips", 0), why_failed(said) if failed else "")


def why_failed(said: str) -> str:
    """The part of what trial said that tells of failures; the end of it all if it tells of none."""
    found = RULE.search(said)
    return said[found.start() :] if found else said


def run(names: Sequence[str]) -> list[Outcome]:
    """Everything, or the tests named only."""
    wanted = units(names)
    with (
        tempfile.TemporaryDirectory(prefix="ganeti-trial-", ignore_cleanup_errors=True) as kept,
        ThreadPoolExecutor(min(MOST_WORKERS, WORKERS_PER_CORE * (os.cpu_count() or 1))) as pool,
    ):
        this = Run(live=len(wanted) == 1, kept=kept)
        for number in ASKING:  # what tests start must not ignore them, as what a shell starts in the background does
            signal.signal(number, lambda *_: this.stop())
        try:
            going = {} if names else {name: pool.submit(this.check, name) for name in CHECKS}
            going |= {unit: pool.submit(this.trial, unit) for unit in wanted}
            return [settled(name, outcome) for name, outcome in going.items()]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def settled(name: str, outcome: "Future[Outcome]") -> Outcome:
    """The outcome when it is there; it has failed when it could not be run."""
    try:
        return outcome.result()
    except Exception as error:
        print(f"{name}: could not be run: {error!r}", flush=True)
        return Outcome(name, failed=1)


def main() -> int:
    """The exit status is 1 when something failed."""
    # Tests start hundreds of daemons and commands, and where PYTHONDONTWRITEBYTECODE is set each would compile all it imports.
    compileall.compile_dir(ROOT / "ganeti_tx", quiet=2, workers=0)
    outcomes = run(sys.argv[1:])
    failures = [each for each in outcomes if each.failed]
    for each in failures:
        print(f"failed: {each.name}\n{each.why[-REPEATED // len(failures) :]}".rstrip())
    for each in failures:
        print(" ".join(["failed:", each.name, *FAILED_TEST.findall(each.why)]))
    passed, failed = sum(each.passed for each in outcomes), sum(each.failed for each in outcomes)
    print(f"{passed} passed, {failed} failed, {sum(each.skipped for each in outcomes)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(with_all_ended(main, spared=lives_for_a_lab))
