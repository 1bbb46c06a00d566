"""What commands print, against what was recorded of Ganeti 3.0.2.

Lines of the record without output are preparation. Columns may have other widths, and jobs other numbers. Of what is
refused the status is compared: our words tell what helps. `apart` are the lines that differ, as they are here, `beyond`
those that Ganeti 3.0.2 does not have.
"""

import re
from collections.abc import Mapping
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase

#: Numbers of jobs, as they are printed.
JOB = re.compile(r"(\bjobs? |^)\d+((?:, \d+)*)(?=$|:| for| \.\.\.)", re.IGNORECASE)


def shape(text: str) -> re.Pattern[str]:
    """What a line that was printed must look like."""
    pieces = recorded.PLACEHOLDER.split(plain(recorded.here(text)))
    return re.compile(".+?".join(re.escape(piece) for piece in pieces[::2]))


def plain(line: str) -> str:
    """A line without the widths of columns and the numbers of jobs."""
    return " ".join(JOB.sub(r"\1N", line).split())


def differences(line: Mapping[str, Any], found: str) -> list[str]:
    """The lines that differ."""
    apart: Mapping[str, str] = line.get("apart", {})
    here = found.splitlines()
    for ours in line.get("beyond", ()):
        at = next(number for number, shown in enumerate(here) if shape(ours[0]).fullmatch(plain(shown)))
        del here[at : at + len(ours)]
    there = [apart.get(each, each) for each in line["stdout"].splitlines()]
    if len(here) != len(there):
        return [f"{len(here)} lines instead of {len(there)}:\n{found}instead of\n{line['stdout']}"]
    return [
        f"{shown!r} instead of {as_recorded!r}"
        for shown, as_recorded in zip(here, there, strict=True)
        if not shape(as_recorded).fullmatch(plain(shown))
    ]


class RecordedOutputTests(RecordedOsCase):
    """The recorded commands, one after the other."""

    maxDiff = None

    def run_line(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of one command."""
        words = [recorded.here(word) for word in line["argv"]]
        status, out, err = self.scene().run(words)
        if "--submit" in words:
            self.cluster.pass_time(30)
        if status != line["status"]:
            return [f"{words} ended with {status}: {out}{err}"]
        if status != 0 or "stdout" not in line:
            return []
        return [f"{' '.join(words)}: {each}" for each in differences(line, out)]

    def compare(self, record: str) -> None:
        """There is no difference in one record."""
        wrong = [each for line in recorded.lines(record) for each in self.run_line(line)]
        self.assertEqual("\n".join(wrong), "")

    def test_evacuations(self) -> None:
        """Instances that leave nodes and groups, for where hail finds room."""
        install_hail(self.cluster)
        self.compare("evacuations.jsonl")
