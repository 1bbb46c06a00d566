"""Tables of requests that are refused: by what code, with what words, and without a change of anything."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.test.contracts.operation_cells import reason
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster

#: Files that say what was asked for, not what there is.
RECORDS = re.compile(r"/(queue|log|lock|iallocator)/|/(locks|tempres)\.data|livelock")
#: The code of one that fails while it is done, so that it has none.
LATE = ""


@frozen
class Bad:
    """Requests that are refused for one reason, as what comes behind a program's name, or a whole line."""

    code: str
    words: str
    lines: Sequence[str]


class BadRequestCase(ClusterCase):
    """Holds requests of one program against what they must bring about."""

    program = "gnt-instance"

    def check_all(self, condition: str, bad: Sequence[Bad]) -> None:
        """Each request of a part of a table; then no lock is held."""
        for each in bad:
            for request in each.lines:
                self.check(condition, each, request if request.startswith("gnt-") else f"{self.program} {request}")
        self.assert_nothing_held(self.cluster)

    def check(self, condition: str, bad: Bad, line: str) -> None:
        """It is refused as it should be, and nothing is other than before."""
        before = dict(everything(self.cluster))
        status, out, err = self.scene().run(line.split())
        where = f"{condition}: {line}: {out}{err}"
        self.assertEqual(status, 1, where)
        said = reason(err, "web1", where)
        code, _, text = said.partition(": ") if bad.code else ("", "", said)
        self.assertEqual(code, bad.code, where)
        self.assertIn(bad.words, text, where)
        self.cluster.pass_time(1)
        self.assertEqual(dict(everything(self.cluster)), before, where)


def everything(cluster: InProcessCluster) -> Iterator[tuple[object, object]]:
    """All that there is of files, disks and machines, byte for byte."""
    yield "disks", cluster.disks()
    yield "running", cluster.running()
    for node in cluster.members:
        yield (node.name, "ready"), sorted(node.files_storage.devices.behind)
        for path in files(node.disk.paths()):
            yield (node.name, path), node.disk.content(path)


def files(paths: Sequence[Path]) -> list[Path]:
    """Those that are no records."""
    return [path for path in paths if not RECORDS.search(str(path))]
