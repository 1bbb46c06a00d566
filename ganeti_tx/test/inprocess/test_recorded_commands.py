"""The other programs, against what was recorded of Ganeti 3.0.2: what they print, how they end, and the kind of a refusal.

The records have the lines whose circumstances a cluster in one process has; doc/differences.rst says what the others are about.
Of what is refused the status and the kind of error are compared: our words tell what helps.
"""

import re
from collections.abc import Mapping
from typing import Any

from ganeti_tx.test.inprocess import recorded
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase
from ganeti_tx.test.inprocess.test_recorded_output import differences

KIND = re.compile(r"^error type: (\w+)", re.MULTILINE)
#: What only one of both prints: theirs of the pool of candidates, which is as large as the cluster; ours of steps and locks.
ONE_ONLY = re.compile(
    r"Configuration data is not consistent: Not enough master candidates|Restarting OpenBSD Secure Shell server"
    r"| Locks: | \d\. |Step \d+ of "
)
#: Where the recorded cluster had definitions of operating systems, and where this one has them.
PLACES = ("/usr/local/lib/ganeti/os/", "/usr/share/ganeti/os/")
SETTINGS = (
    "gnt-cluster modify -N link=br0 --enabled-disk-templates=diskless,file,sharedfile "
    "--ipolicy-disk-templates=file,sharedfile,diskless",
    "gnt-cluster modify --ipolicy-bounds-specs "
    "min:cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1/"
    "max:cpu-count=8,disk-count=8,disk-size=100G,memory-size=16G,nic-count=4,spindle-use=8",
)
LIKE_ALL = "-o noop --no-ip-check"
INSTANCES = (
    "gnt-group add group2",
    f"gnt-instance add -t diskless -n node2 --no-start {LIKE_ALL} inst7.example.com",
    f"gnt-instance add -t file --disk 0:size=128M,name=first -n node2 --no-start -B maxmem=64,minmem=64 {LIKE_ALL} "
    "inst2.example.com",
    f"gnt-instance add -t file --disk 0:size=64M,name=data --disk 1:size=32M,access=ro -n node1 {LIKE_ALL} inst3.example.com",
    f"gnt-instance add -t diskless -n node1 {LIKE_ALL} inst1.example.com",
    f"gnt-instance add -t diskless -n node2 {LIKE_ALL} inst5.example.com",
    f"gnt-instance add -t file -s 64M -n node1 --no-start {LIKE_ALL} inst4.example.com",
)


class RecordedCommandsTests(RecordedOsCase):
    """The recorded commands of each program, one after the other."""

    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.define_also("noop", {"ganeti_api_version": b"5\n10\n"})
        self.define_also(
            "failing", {"ganeti_api_version": b"20\n", "variants.list": b"default\n", "parameters.list": b""}
        )
        for line in SETTINGS:
            self.ok(line)

    def define_also(self, name: str, files: Mapping[str, bytes]) -> None:
        """Have one more definition of an operating system on each node."""
        directory = self.cluster.paths.os_search_path[0] / name
        for node in self.cluster.nodes.values():
            for file, content in files.items():
                put(node.disk, directory / file, content)
            for script in ("create", "export", "import", "rename", "verify"):
                put(node.disk, directory / script, b"#!/bin/sh\n", 0o755)

    def compare(self, record: str, least: int) -> None:
        """There is no difference in one record, which has so many lines."""
        lines = recorded.lines(record)
        wrong = [f"{' '.join(line['argv'])}: {each}" for line in lines for each in self.run_line(line)]
        self.assertEqual("\n".join(wrong), "")
        self.assertGreaterEqual(len(lines), least)

    def run_line(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of one command."""
        words = [recorded.here(word) for word in line["argv"]]
        status, out, err = self.scene().run(words)
        if "--submit" in words:
            self.cluster.pass_time(30)
        if status != line["status"]:
            return [f"ended with {status}: {out}{err}"]
        if status == 0:
            return differences({**line, "stdout": self.alike(line["stdout"])}, self.alike(out))
        kinds = [line["kind"], *KIND.findall(err)]
        return [] if line["kind"] is None or kinds[0] == kinds[-1] else [f"{kinds[-1]} instead of {kinds[0]}"]

    def alike(self, text: str) -> str:
        """What was printed, but what only one prints, and where definitions are."""
        for place in PLACES:
            text = text.replace(place, f"{self.cluster.paths.os_search_path[0]}/")
        return "".join(line for line in text.splitlines(keepends=True) if not ONE_ONLY.search(line))

    def test_oses(self) -> None:
        """What gnt-os shows and does."""
        self.compare("gnt-os.jsonl", 20)

    def test_filters(self) -> None:
        """What gnt-filter does."""
        self.compare("gnt-filter.jsonl", 5)

    def test_others(self) -> None:
        """What the others do with instances and jobs."""
        for line in INSTANCES:
            self.ok(line)
        for program, least in (("gnt-node", 70), ("gnt-job", 20), ("gnt-debug", 25), ("gnt-backup", 10)):
            self.compare(f"{program}.jsonl", least)
