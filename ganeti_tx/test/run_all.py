"""Runs lint, types and trial, and counts: the last line is "N passed, N failed, N skipped"."""

import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Seconds for all of trial; CI has 40 minutes for everything.
TRIAL_LIMIT = 33 * 60
COUNT = re.compile(r"(\w+)=(\d+)")
CHECKS = (
    ("ruff check", ["-m", "ruff", "check", "--quiet", "."]),
    ("ruff format", ["-m", "ruff", "format", "--check", "--quiet", "."]),
    ("mypy", ["-m", "mypy", "--no-error-summary"]),
)


def check(name: str, arguments: list[str]) -> bool:
    """Run one checker; its words are shown when it finds something."""
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"{name}: {'ok' if done.returncode == 0 else 'failed'}", flush=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr, flush=True)
    return done.returncode == 0


def trial(names: list[str]) -> tuple[int, int, int]:
    """Run the tests; passed, failed and skipped."""
    with tempfile.TemporaryDirectory(prefix="ganeti-trial-") as directory:
        command = [sys.executable, "-m", "twisted.trial", "--temp-directory", f"{directory}/trial", *names]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HYPOTHESIS_STORAGE_DIRECTORY": f"{directory}/hypothesis"}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout is not None
        limit = threading.Timer(TRIAL_LIMIT, process.kill)
        limit.start()
        summary = ""
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith(("PASSED", "FAILED")):
                summary = line
        process.wait()
        limit.cancel()
    counts = {name: int(number) for name, number in COUNT.findall(summary)}
    failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpectedSuccesses", 0)
    if not summary or (process.returncode != 0 and failed == 0):
        failed += 1
    return counts.get("successes", 0), failed, counts.get("skips", 0)


def main() -> int:
    """Everything, or the tests named only."""
    names = sys.argv[1:]
    checked = [] if names else [check(name, arguments) for name, arguments in CHECKS]
    passed, failed, skipped = trial(names or ["ganeti_tx"])
    passed += sum(checked)
    failed += len(checked) - sum(checked)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
