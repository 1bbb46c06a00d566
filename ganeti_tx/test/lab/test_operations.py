"""Every operation on instances upon real volumes and mirrors, on machines; doc/operations-lab.rst says the same."""

import atexit
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import mkdtemp

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.contracts.operation_cells import Column, cells_of
from ganeti_tx.test.contracts.operations import MODIFY, ROWS, SET, Row, becomes, down
from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE, KeptLogs
from ganeti_tx.test.lab.cluster import FILE_STORAGE, MASTER, OS, SHARED_FILE_STORAGE, LabCluster
from ganeti_tx.test.lab.guard import Guard
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.lab import Lab, missing
from ganeti_tx.test.lab.operations_page import PAGE, check, known, page

#: In the order of the page.
COLUMNS = (DiskTemplate.PLAIN, DiskTemplate.DRBD)
#: What disks can be converted to, besides.
OTHERS = (DiskTemplate.FILE, DiskTemplate.SHAREDFILE, DiskTemplate.EXT)
#: An instance is on the second, its second copy on the third; that on the first is made by an operation.
MACHINES = 3
#: MiB of each: all instances of the table may come to be on one of them, beside its daemons.
MEMORY = 1024
#: A lab of so many machines that is up already, and into whose cluster the instances go.
OPERATIONS_VARIABLE = "GANETI_LAB_OPERATIONS"
#: Which of the cells are gone through, as a pattern.
CELLS_VARIABLE = "GANETI_LAB_CELLS"
HAIL = Path("/usr/lib/ganeti/iallocators/hail")
#: Those for which there would have to be two more machines.
FAR = "rack2"
SIZE = "16M"
#: The exit status of a command that did not end in time, as that of timeout(1).
TIMED_OUT = 124
#: What only real disks show.
MORE = (
    down(SET, "to plain", f"{MODIFY} -t plain {{name}}", becomes(DiskTemplate.PLAIN), spoils=True),
    down(SET, "to drbd", f"{MODIFY} -t drbd -n node3 {{name}}", becomes(DiskTemplate.DRBD), spoils=True),
    Row(ops.OpClusterRepairDiskSizes, "", "gnt-cluster repair-disk-sizes {name}"),
)
#: The table, but for what needs another group of nodes.
HERE = [row for row in (*ROWS, *MORE) if FAR not in row.lines[-1]]
SETTINGS = (
    "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
    f"gnt-cluster modify --ipolicy-disk-templates {','.join((*COLUMNS, *OTHERS))}",
)
#: A provider whose volumes are files, each on the machine that made it.
PROVIDER = r"""
mkdir -p /srv/ganeti/extstorage/shelf /srv/shelf && cd /srv/ganeti/extstorage/shelf && : > parameters.list
cat > create <<'SCRIPT'
#!/bin/sh
set -eu
file=/srv/shelf/$VOL_NAME
case ${0##*/} in
create) truncate -s "${VOL_SIZE}M" "$file" ;;
attach) losetup -n -O NAME -j "$file" | grep . || losetup -f --show "$file" ;;
detach) for each in $(losetup -n -O NAME -j "$file"); do losetup -d "$each"; done ;;
remove) rm -f "$file" ;;
grow) truncate -s "${VOL_NEW_SIZE}M" "$file" ;;
esac
SCRIPT
chmod 755 create
for each in attach detach remove grow setinfo verify; do ln -sf create $each; done
"""
#: What is said, besides, where a template takes more than its name.
HOW = {DiskTemplate.DRBD: "-n node3", DiskTemplate.EXT: "-e provider=shelf"}
#: What is written and read: all of a disk.
BYTES = 16 << 20


def round_trip(templates: Sequence[DiskTemplate]) -> list[DiskTemplate]:
    """From each to each other one, once, and back to the first."""
    return [each for pair in combinations(templates, 2) for each in pair] + [templates[0]]


class LabOperationsTests(KeptLogs):
    """Three machines in one group; instances that a fake hypervisor has, on disks that are real."""

    timeout = 3000

    def setUp(self) -> None:
        """A lab of its own, as it takes one machine more than other tests."""
        if CAMPAIGN_VARIABLE not in os.environ:
            raise SkipTest("'bin/lab campaign' runs this one")
        if (reason := missing()) is not None:
            raise SkipTest(reason)
        if not HAIL.exists():
            raise SkipTest(f"there is no {HAIL}; 'apt-get install ganeti-htools' brings it")
        self.lab = self.have_lab()
        self.cluster = LabCluster(self.lab)
        if not self.cluster.is_up:
            self.furnish()
        self.directory = Path(mkdtemp(prefix="gtx", dir="/tmp"))

    def labs(self) -> Sequence[Lab]:
        """See `KeptLogs`."""
        return [self.lab]

    def have_lab(self) -> Lab:
        """One that is up."""
        if named := os.environ.get(OPERATIONS_VARIABLE):
            return Lab(Path(named))
        state = Path(mkdtemp(prefix="ganeti-lab-", dir="/var/tmp"))
        atexit.register(Guard.over(state).end)
        lab = Lab(state)
        lab.up(MACHINES, memory=MEMORY)
        return lab

    def furnish(self) -> None:
        """The cluster, and what its administrator brings."""
        self.cluster.up((*COLUMNS, *OTHERS), ["--shared-file-storage-dir", SHARED_FILE_STORAGE])
        place = Paths(self.cluster.root).iallocator_search_path[0]
        place.mkdir(parents=True, exist_ok=True)
        (place / "hail").symlink_to(HAIL)
        for machine in self.lab.machines:
            machine.run(PROVIDER)
        for line in SETTINGS:
            self.cluster.ok(*line.split())

    def run_line(self, words: Sequence[str]) -> tuple[int, str, str]:
        """See `Scene`."""
        try:
            ended = self.cluster.run(*words)
        except LabFailed as error:
            return TIMED_OUT, "", str(error)
        return ended.returncode, ended.stdout, ended.stderr

    def column(self, template: DiskTemplate) -> Column:
        """One of the table, for an instance of its own."""
        name = f"on-{template}.lab.example"
        nodes = [MASTER, *map(self.cluster.node_name, self.lab.machines)]
        disk = {"size": SIZE}
        column = Column(
            Scene(self.run_line, nodes, OS),
            template,
            name,
            "fake",
            disk,
            disk,
            self.directory / f"{template}.json",
            lambda: self.lose(name),
            chained=True,
        )
        column.write_batch()
        return column

    def lose(self, name: str) -> None:
        """The instance's volumes are gone from every node."""
        for machine in self.lab.machines:
            machine.run(f"lvremove -qf -S lv_tags=originstname+{name}")

    def test_table(self) -> None:
        """Each is done, or refused as the template declares, and nothing is left in the end."""
        columns = [self.column(template) for template in COLUMNS]
        pattern = re.compile(os.environ.get(CELLS_VARIABLE, ""))
        cells = cells_of(columns, HERE, lambda title, template: bool(pattern.search(f"{title} with {template}")))
        self.assertEqual(list(self.left()), [])
        self.cluster.verify()
        check(HERE, COLUMNS, cells, Path("operations-lab.rst"))

    def test_conversions(self) -> None:
        """What is on a disk goes with it, from each template to each other one, and nothing stays where it was."""
        name, machine = "web1.lab.example", self.lab.machines[1]
        where = f"--no-start --no-name-check --no-ip-check --no-nics -o {OS} -H fake -n node2"
        first, *others = round_trip((*COLUMNS, *OTHERS))
        self.cluster.ok(*f"gnt-instance add -t {first} --disk 0:size={SIZE} {where} {name}".split())
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", "--ignore-failures", name)
        with self.disk(name) as device:
            machine.run(f"head -c {BYTES} /dev/urandom | dd of={device} bs=1M iflag=fullblock oflag=direct status=none")
            written = machine.run(f"head -c {BYTES} {device} | sha256sum")
        for before, template in pairwise((first, *others)):
            self.cluster.ok(*f"{MODIFY} -t {template} {HOW.get(template, '')} {name}".split())
            with self.disk(name) as device:
                self.assertEqual(machine.run(f"head -c {BYTES} {device} | sha256sum"), written, (before, template))
        self.cluster.verify()
        self.cluster.ok("gnt-instance", "remove", "-f", name)
        self.assertEqual(list(self.left()), [])

    @contextmanager
    def disk(self, name: str) -> Iterator[str]:
        """The device of an instance's only disk, on its primary node."""
        yield self.cluster.ok("gnt-instance", "activate-disks", name).strip().rpartition(":")[2]
        self.cluster.ok("gnt-instance", "deactivate-disks", name)

    def left(self) -> Iterator[str]:
        """What instances have left."""
        files = f"find {FILE_STORAGE} {SHARED_FILE_STORAGE} /srv/shelf -type f"
        for machine in self.lab.machines:
            told = machine.run(
                f"lvs --noheadings -o lv_name xenvg; grep cs: /proc/drbd; {files}; losetup -n -l -O NAME"
            )
            yield from (f"{machine.name}: {line.strip()}" for line in told.splitlines())


class PageTests(SynchronousTestCase):
    """What campaigns have found."""

    def test_page(self) -> None:
        """Its cells are those of the table, as they were written."""
        cells = known(PAGE.read_text(), COLUMNS)
        self.assertEqual(PAGE.read_text(), page(HERE, COLUMNS, cells))
        self.assertLess(set(), {*cells})
