"""Files in a directory that all nodes share."""

from ganeti_tx.model.disk_template import Mirrored, Template
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.logical_id import FileId

TEMPLATE = Template(
    logical_id=FileId,
    storage=StorageType.SHAREDFILE,
    pool="shared_file_storage_dir",
    name="{uuid}.sharedfile.disk{index}",
    mirrored=Mirrored.EXTERNALLY,
    in_files=True,
    driver="file",
)
