"""What the commands for disks print, and what they refuse, against what was recorded of Ganeti 3.0.2.

Lines of the record without output are preparation; `lost` names files of disks on the first node that were removed by hand before.
Of what is refused the code is compared: our words tell what helps. To make disks anew that are there is refused before anything
is done, with a code that Ganeti, which tries it, does not give.
"""

import re
from collections.abc import Mapping
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase
from ganeti_tx.test.inprocess.test_recorded_output import differences

CODE = re.compile(r"error type: (\w+)")


class RecordedDisksTests(RecordedOsCase):
    """The recorded commands, one after the other."""

    maxDiff = None

    def run_line(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of one command."""
        words = [recorded.here(word) for word in line["argv"]]
        disks = self.cluster.node(1).files_storage.disks
        for key in [key for key in disks if key.endswith(tuple(line.get("lost", ())) or "\0")]:
            del disks[key]
        status, out, err = self.scene().run(words)
        if "--submit" in words:
            self.cluster.pass_time(60)
        if status != line["status"]:
            return [f"{words} ended with {status}: {out}{err}"]
        if "stdout" not in line:
            return []
        if status == 0:
            found = differences(line, out)
        else:
            codes = [CODE.findall(text) for text in (err, line["stderr"])]
            found = [] if codes[0] == codes[1] else [f"{codes[0]} instead of {codes[1]}"]
        return [f"{' '.join(words)}: {each}" for each in found]

    def test_as_recorded(self) -> None:
        """There is no difference."""
        wrong = [each for line in recorded.lines("gnt-instance-disks.jsonl") for each in self.run_line(line)]
        self.assertEqual("\n".join(wrong), "")
