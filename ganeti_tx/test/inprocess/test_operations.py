"""Every operation on instances, with every template that there is, on the fake hypervisor; doc/operations.rst says the same."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.disk_templates import AVAILABLE, TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.contracts.operation_cells import DONE, Column, cells_of
from ganeti_tx.test.contracts.operations import ROWS
from ganeti_tx.test.contracts.operations_page import check, section
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

#: In the order of the page; the mirror of the tests stands for DRBD.
COLUMNS = tuple(dict.fromkeys((*AVAILABLE, DiskTemplate.DRBD)))
ALL = ",".join(COLUMNS)
DEVICES = "/dev/disk/by-id/lun{}"
#: Seconds after which a new copy is whole, and what was taken down is gone.
REST = 5.0
#: MiB a second that mirrors copy.
RATE = 1000.0
SETTINGS = (
    f"gnt-cluster modify --enabled-disk-templates {ALL} --ipolicy-disk-templates {ALL}",
    "gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks",
    "gnt-group add rack2",
    "gnt-group assign-nodes rack2 node4 node5",
)
DISKS = {
    DiskTemplate.EXT: ({"size": "1G", "provider": "shelf"},) * 2,
    DiskTemplate.BLOCKDEV: ({"adopt": DEVICES.format(0)}, {"adopt": DEVICES.format(1)}),
}


class OperationsTests(ClusterCase):
    """Five nodes, of which two are another group."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, wire = mirrored_cluster(5, seed)
        wire.rate = RATE
        self.addCleanup(cluster.end)
        install_hail(cluster)
        for number in (0, 1):
            cluster.shared.add_device(DEVICES.format(number), 1024)
        return cluster

    def column(self, template: DiskTemplate) -> Column:
        """One of the table."""
        disk, new_disk = DISKS.get(template, ({"size": "1G"},) * 2)
        batch = Path(self.mktemp())
        column = Column(
            self.scene(), template, "web1.example.com", "fake", disk, new_disk, batch, self.lose, self.settle
        )
        column.write_batch()
        return column

    def lose(self) -> None:
        """All that was made is gone from every node."""
        self.cluster.shared.files.clear()
        self.cluster.shared.gluster.clear()
        self.cluster.shared.external.volumes.clear()
        self.cluster.shared.ceph.lose_images()
        for node in self.cluster.members:
            node.files_storage.disks.clear()
            assert node.mirror_node is not None
            node.mirror_node.volumes.disks.clear()

    def settle(self, where: str) -> None:
        """All agree."""
        self.cluster.pass_time(REST)
        self.assertEqual(disagreements(self.cluster), [], where)

    def test_table(self) -> None:
        """Each is done, or refused as the template declares; all agree afterwards, and nothing is left in the end."""
        cells: dict[tuple[str, DiskTemplate], str] = {}
        for template in COLUMNS:
            self.cluster = self.new_cluster()
            for line in SETTINGS:
                self.ok(line)
            column = self.column(template)
            cells |= {(row.title, template): outcome for row, outcome in column.cells(ROWS)}
            self.assertEqual(column.wrong, [])
            self.assert_nothing_left(self.cluster)
            self.cluster.end()
        check(section("On the fake hypervisor", ROWS, COLUMNS, cells), Path("operations-fake.rst"))

    def test_none_is_left_out(self) -> None:
        """A new operation on instances needs a row, and so does each of its templates a column."""
        self.assertEqual({row.op for row in ROWS}, set(operations()))
        self.assertEqual(len({row.title for row in ROWS}), len(ROWS))
        self.assertEqual({each for each in TEMPLATES if TEMPLATES[each].available} - set(COLUMNS), set())


def operations() -> Iterator[type]:
    """All that is done to instances, one by one or to those of a node or a group."""
    wide = {"OP_NODE_EVACUATE", "OP_NODE_MIGRATE", "OP_GROUP_EVACUATE"}
    for kind in UNITS:
        if kind.op_id().startswith("OP_INSTANCE_") or kind.op_id() in wide:
            yield kind


class WrongCellTests(SynchronousTestCase):
    """What is done when a cell is not as the table says."""

    def run_line(self, words: Sequence[str]) -> tuple[int, str, str]:
        """See `Scene`; one command fails."""
        told = {"list": (0, "web1 node2 running\n", ""), "info": (1, "", "a word without a reason")}
        return told.get(words[1], (0, "", ""))

    def test_gone_on(self) -> None:
        """The rest is gone on with, and in the end all is told."""
        rows = [row for row in ROWS if row.op in (ops.OpInstanceQueryData, ops.OpInstanceReboot)]
        scene = Scene(self.run_line, ["node1", "node2", "node3"], "noop")
        column = Column(scene, DiskTemplate.FILE, "web1", "fake", {}, {}, Path(), lambda: None, chained=True)
        with self.assertRaises(AssertionError) as raised:
            cells_of([column], rows)
        self.assertEqual(len(column.wrong), 1)
        self.assertIn("OP_INSTANCE_QUERY_DATA with file: a word without a reason", str(raised.exception))
        self.assertEqual([outcome for _, outcome in column.cells(rows[1:])], [DONE] * 3)
