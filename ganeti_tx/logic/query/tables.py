"""The resources that jobs can tell of, by name."""

from collections.abc import Mapping

from ganeti_tx.logic.query.cluster import ClusterTable
from ganeti_tx.logic.query.ext_storage import ExtStorageTable
from ganeti_tx.logic.query.os import OsTable
from ganeti_tx.logic.query.table import JobTable
from ganeti_tx.model.opcodes.types import JobQueryKind

TABLES: Mapping[JobQueryKind, JobTable] = {
    JobQueryKind.CLUSTER: ClusterTable(),
    JobQueryKind.EXTSTORAGE: ExtStorageTable(),
    JobQueryKind.OS: OsTable(),
}
