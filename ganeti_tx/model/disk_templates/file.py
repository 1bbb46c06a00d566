"""Files in a directory of the node."""

from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import FileId

TEMPLATE = Template(
    logical_id=FileId,
    storage=StorageType.FILE,
    pool="file_storage_dir",
    name="{uuid}.file.disk{index}",
    in_files=True,
    driver="file",
)
