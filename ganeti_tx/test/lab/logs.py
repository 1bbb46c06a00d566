"""What machines said, kept when a test failed: consoles, kernels, daemons; of the cluster's master outside, too."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from twisted.python.components import proxyForInterface
from twisted.python.failure import Failure
from twisted.trial.itrial import IReporter

from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.lab import Lab
from ganeti_tx.test.lab.machine import Machine

#: Lines of each that are shown with the failure; all of it is in the files.
SHOWN = 12
#: Seconds that a machine gets for telling.
LIMIT = 30.0
#: What a machine that still answers is asked; the name of the file it is kept in.
QUESTIONS = {
    "kernel": "dmesg",
    "drbd": "dmesg | grep -iE 'drbd|block d' ; cat /proc/drbd",
    "journal": "command -v journalctl > /dev/null && journalctl -q -b --no-pager",
    "daemons": 'for log in /var/log/ganeti/*.log; do [ -s $log ] && echo "== $log" && cat $log; done',
}


class LogReporter(proxyForInterface(IReporter, "_reporter")):  # type: ignore[misc]  # made at run time
    """Has each failure that is reported of a lab's test say what the machines said."""

    def __init__(self, reporter: object, labs: Callable[[], Sequence[Lab]]) -> None:
        super().__init__(reporter)
        self._labs = labs

    def addError(self, test: object, error: Failure) -> None:
        """See `IReporter`."""
        self._reporter.addError(test, self._told(error))

    def addFailure(self, test: object, failure: Failure) -> None:
        """See `IReporter`."""
        self._reporter.addFailure(test, self._told(failure))

    def _told(self, failure: Failure) -> Failure:
        """What went wrong comes last: of a long text, often the end alone is kept."""
        failure.value = FailedWithLogs("\n".join([*map(kept_logs, self._labs()), "-- what failed", str(failure.value)]))
        return failure


class FailedWithLogs(Exception):
    """The last that the machines said, and what went wrong."""


def kept_logs(lab: Lab) -> str:
    """Keep all that there is of a lab in a new directory; gives its name and the last lines of each."""
    directory = Path(mkdtemp(prefix="ganeti-lab-failed-", dir="/var/tmp"))
    lines = [f"what the lab's machines said is in {directory}; the last of it:"]
    for name, text in all_logs(lab):
        (directory / name).write_text(text)
        lines += [f"-- {name}", *text.splitlines()[-SHOWN:]]
    return "\n".join(lines)


def all_logs(lab: Lab) -> Iterator[tuple[str, str]]:
    """The name and the text of each that is not empty."""
    try:
        machines = lab.machines
    except LabFailed as error:
        yield "lab", str(error)
        return
    for machine in machines:
        yield from ((f"{machine.name}-{name}", text) for name, text in logs_of(machine) if text.strip())
    for path in sorted((lab.state / "cluster").glob("*/var/log/ganeti/*.log")):
        if text := path.read_text(errors="replace").strip():
            yield f"outside-{path.stem}", text


def logs_of(machine: Machine) -> Iterator[tuple[str, str]]:
    """What one machine said."""
    yield "console", machine.console.read_text(errors="replace") if machine.console.exists() else ""
    if not machine.is_on:
        yield "power", "it is off"
        return
    for name, question in QUESTIONS.items():
        try:
            yield name, machine.ended(question, limit=LIMIT).stdout
        except (LabFailed, subprocess.SubprocessError) as error:
            yield name, str(error)
            return
