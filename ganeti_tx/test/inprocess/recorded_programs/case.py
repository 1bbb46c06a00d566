"""The ground of tests that play a whole record."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.recorded_programs import allocator
from ganeti_tx.test.inprocess.recorded_programs.circumstances import Circumstances
from ganeti_tx.test.inprocess.recorded_programs.differences import without
from ganeti_tx.test.inprocess.recorded_programs.printed import Printed, alike, as_recorded, asked, differences
from ganeti_tx.test.inprocess.recorded_programs.shell import Shell
from ganeti_tx.test.inprocess.test_recorded_os_environment import RecordedOsCase

SETTINGS = (
    "gnt-cluster modify -N link=br0 --enabled-disk-templates=diskless,file,sharedfile "
    "--ipolicy-disk-templates=file,sharedfile,diskless --ipolicy-vcpu-ratio=32 -I hail",
    "gnt-cluster modify --ipolicy-bounds-specs "
    "min:cpu-count=1,disk-count=0,disk-size=1M,memory-size=1M,nic-count=0,spindle-use=1/"
    "max:cpu-count=8,disk-count=8,disk-size=100G,memory-size=16G,nic-count=4,spindle-use=8",
)
#: As the recorded machines had.
MEMORY = b"MemTotal: 24683520 kB\nMemAvailable: 23164928 kB\n"
PROCESSORS = b"processor : 0\nphysical id : 0\n\nprocessor : 1\nphysical id : 0\n\n"


class RecordedProgramCase(RecordedOsCase):
    """With the definitions and settings of the recorded cluster."""

    maxDiff = None
    SETTINGS: Sequence[str] = SETTINGS

    def setUp(self) -> None:
        super().setUp()
        directory = Path(self.mktemp()).absolute()
        directory.mkdir()
        self.circumstances = Circumstances(self.cluster, self.scene, directory)
        self.shell = Shell(self.circumstances)
        self.define_also("noop", {"ganeti_api_version": b"5\n10\n"})
        self.define_also(
            "failing", {"ganeti_api_version": b"20\n", "variants.list": b"default\n", "parameters.list": b""}
        )
        for node in self.cluster.members:
            put(node.disk, Path("/proc/meminfo"), MEMORY)
            put(node.disk, Path("/proc/cpuinfo"), PROCESSORS)
        for line in self.SETTINGS:
            self.ok(line)

    def define_also(self, name: str, files: Mapping[str, bytes]) -> None:
        """Have one more definition of an operating system on each node."""
        directory = self.cluster.paths.os_search_path[0] / name
        for node in self.cluster.nodes.values():
            for file, content in files.items():
                put(node.disk, directory / file, content)
            for script in ("create", "export", "import", "rename", "verify"):
                put(node.disk, directory / script, b"#!/bin/sh\n", 0o755)

    def wrong(self, line: Mapping[str, Any]) -> list[str]:
        """What is not as recorded of one line, but what is declared; what is declared must be so."""
        for step in line.get("before", ()):
            self.circumstances.bring_about(step)
        allocator.install(self.cluster, line)
        found = self.shell.run(line)
        if "--submit" in line["argv"] and not line.get("soon"):
            self.cluster.pass_time(60)
        return self.compared(line, found)

    def compared(self, line: Mapping[str, Any], found: Printed) -> list[str]:
        """As `wrong`."""
        command, keys = " ".join(line["argv"]), line.get("differs", ())
        if "Traceback" in found.out + found.err:
            return [f"a traceback: {found.out}{found.err}"]
        wanted = as_recorded(line, self.circumstances.jobs)
        if "typed" in line:
            wanted, found = asked(wanted), asked(found)
        if "ends" in line:
            return [] if found.status == line["ends"] != line["status"] else [f"ended with {found.status}: {found}"]
        wrong = differences(without(keys, wanted), without(keys, found), command)
        return wrong or [f"{key!r} is no difference" for key in keys if self.idle(key, keys, wanted, found, command)]

    def idle(self, key: str, keys: Sequence[str], wanted: Printed, found: Printed, command: str) -> bool:
        """Whether a line is as recorded without one of the kinds that it declares, too."""
        others = [each for each in keys if each != key]
        return alike(without(others, wanted), without(others, found), command)
