"""What `gnt-instance add` refuses besides what was recorded of Ganeti 3.0.2, which `test_recorded_instances` has.

Lines without `says` are preparation. What is refused changes nothing.
"""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.state import state
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase
from ganeti_tx.test.inprocess.test_recorded_output import plain, shape

LINES = recorded.lines("gnt-instance-add-refused.jsonl")


class AddRefusedTests(RecordedOsCase):
    """The commands, one after the other."""

    maxDiff = None

    def run_line(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as it should be of one command."""
        words = [recorded.here(word) for word in line["argv"]]
        before = state(self.cluster)
        status, out, err = self.scene().run(words)
        if status != line["status"]:
            return [f"{words} ended with {status}: {out}{err}"]
        changed = ["something was changed"] if status and state(self.cluster) != before else []
        return [f"{' '.join(words)}: {each}" for each in (*changed, *(self.refused(line, err) if status else ()))]

    def refused(self, line: Mapping[str, Any], err: str) -> list[str]:
        """What is amiss with the words of a refusal; a name that was probably meant may follow them."""
        told = [each for each in err.strip().splitlines() if not each.startswith("Did you mean ")]
        code = next((each.split()[2].rstrip(",") for each in told if each.startswith("error type:")), None)
        found = [] if code == line["code"] else [f"{code} instead of {line['code']}"]
        return (
            found if shape(line["says"]).fullmatch(plain(told[-1])) else [*found, f"{told[-1]!r}, not {line['says']!r}"]
        )

    def test_refused(self) -> None:
        """Each with its kind and words."""
        wrong = [each for line in LINES for each in self.run_line(line)]
        self.assertEqual("\n".join(wrong), "")
        self.assertGreater(sum(line["status"] != 0 for line in LINES), 20)
