"""`gnt-instance add` as it was recorded of Ganeti 3.0.2: what it prints, and what it refuses.

Lines that tell of disks in sync where nothing is to be synchronised are left out of the record, and addresses of pools are told
after all that is given, as they are chosen then. Of what is refused, `code` and `says` are ours, as our words tell what would
help; the codes are the recorded ones wherever Ganeti has one. The last lines were not recorded: they are of the states of nodes,
and of what Ganeti 3.0.2 does not have.
"""

import re
from collections.abc import Mapping
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase
from ganeti_tx.test.inprocess.test_recorded_output import differences, plain, shape

RECORDED = recorded.lines("gnt-instance-add.jsonl")
#: What only we print: design-2.1 wants the new uuid told. A dry run tells the plan, too.
OURS = re.compile(
    r"INFO: Instance \S+ has UUID|INFO: Resolved given name| Locks: | \d\. |- WARNING: Instance allocation"
)


class RecordedAddTests(RecordedOsCase):
    """The recorded commands, one after the other."""

    maxDiff = None

    def run_line(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of one command."""
        words = [recorded.here(word) for word in line["argv"]]
        before = self.state()
        status, out, err = self.scene().run(words)
        if "--submit" in words:
            self.cluster.pass_time(30)
        if status != line["status"]:
            return [f"{words} ended with {status}: {out}{err}"]
        if status != 0:
            found = self.refused(line, err) + ([] if self.state() == before else ["something was changed"])
        else:
            found = differences(line, without(out)) if "stdout" in line else []
        return [f"{' '.join(words)}: {each}" for each in found]

    def refused(self, line: Mapping[str, Any], err: str) -> list[str]:
        """What is amiss with the words of a refusal; a name that was probably meant may follow them."""
        told = [each for each in err.strip().splitlines() if not each.startswith("Did you mean ")]
        code = next((each.split()[2].rstrip(",") for each in told if each.startswith("error type:")), None)
        found = [] if code == line["code"] else [f"{code} instead of {line['code']}"]
        return (
            found if shape(line["says"]).fullmatch(plain(told[-1])) else [*found, f"{told[-1]!r}, not {line['says']!r}"]
        )

    def state(self) -> tuple[bytes, object, object]:
        """The configuration byte for byte; what is on the nodes."""
        disk = self.cluster.master.disk
        return disk.read(self.cluster.paths.config_file, 1 << 24), self.cluster.disks(), self.cluster.running()

    def test_as_recorded(self) -> None:
        """There is no difference; what is refused changes nothing."""
        wrong = [each for line in RECORDED for each in self.run_line(line)]
        self.assertEqual("\n".join(wrong), "")
        self.assertGreater(sum(line["status"] != 0 for line in RECORDED), 70)


def without(out: str) -> str:
    """What was printed but what only we print."""
    return "".join(line for line in out.splitlines(keepends=True) if not OURS.search(line))
